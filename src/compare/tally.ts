import type { Endpoint } from "../endpoint/endpoint.ts";
import {
  causeOf,
  type Classification,
  type Difference,
  type DifferenceResult,
  resultOf,
  zeroCounts,
} from "./difference.ts";
import { openDifferenceGroups } from "./differenceGroups.ts";
import { fieldReports, type SeenFields } from "./fields.ts";
import { addLatency, type Latencies, latencyQuantile, noLatencies } from "./latency.ts";
import type {
  Cause,
  CurlPair,
  ExampleAnswer,
  Report,
  ReportedDifference,
  SideLatency,
  StatusPair,
  Summary,
} from "./report.ts";

/** What both sides answered. `statuses`: those of a `StatusPair`; `ms`: how long each side took, where it was asked. */
export type SideAnswers = {
  statuses: readonly [from: number, to: number];
  ms: { legacy?: number; candidate?: number };
};

/** The outcome of one compared request: its differences and how to show them, or why it could not be compared. */
export type ComparisonOutcome = { endpoint: string; curl: CurlPair; answers?: SideAnswers } & (
  | { differences: Difference[]; example: () => Omit<ExampleAnswer, "endpoint" | "curl" | "result"> }
  | { failed: string }
);

/** Everything counted so far, as plain data: it can be written to a file and read back. */
export type TallyState = {
  summaries: Record<string, Summary>;
  differences: [key: string, ReportedDifference][];
  causes: [key: string, Cause][];
  failures: [key: string, { endpoint: string; why: string; count: number; curl: CurlPair }][];
  examples: ExampleAnswer[];
  fields: Record<string, SeenFields>;
  /** By endpoint: the number of answers of each pair of statuses (`412 404`), and the latencies of each side. */
  statuses: Record<string, Record<string, number>>;
  latency: Record<string, Partial<Record<SideLatency["side"], Latencies>>>;
};

/** Counts outcomes in memory that does not grow with their number. */
type Tally = {
  state: TallyState;
  add(outcome: ComparisonOutcome): void;
  /** The number of answers that differ without a reason, so far. */
  unexplained(): number;
  /** What has been seen of an endpoint's legacy fields, to be added to. */
  fieldsOf(endpoint: string): SeenFields;
};

/** The largest number of distinct differences of one endpoint. */
const MAX_DIFFERENCES = 1000;
/** Answers shown for one explained, and for any other difference. */
const MAX_EXPLAINED_EXAMPLES = 1;
const MAX_EXAMPLES = 3;
/** Characters of all examples together. */
const MAX_EXAMPLE_CHARS = 8 * 1024 ** 2;

const zeroSummary = (): Summary => ({ ...zeroCounts(), failed: 0 });

/** A tally that has counted nothing. */
export const emptyTally = (): TallyState => ({
  summaries: {},
  differences: [],
  causes: [],
  failures: [],
  examples: [],
  fields: {},
  statuses: {},
  latency: {},
});

/** Opens a tally that goes on from `state`. */
export const openTally = (state: TallyState = emptyTally()): Tally => {
  const groups = openDifferenceGroups<ReportedDifference>(MAX_DIFFERENCES, state.differences);
  const causes = new Map(state.causes);
  const failures = new Map(state.failures);
  let exampleChars = JSON.stringify(state.examples).length;
  const shownRequests = new Set(state.examples.map(requestOf));

  const causeFor = (endpoint: string, difference: Difference, curl: CurlPair): Cause => {
    const { kind } = difference;
    const name = causeOf(difference);
    const key = `${kind} ${name}`;
    const cause = causes.get(key) ?? { kind, name, fields: 0, answers: 0, endpoints: [], curl };
    if (!cause.endpoints.includes(endpoint)) cause.endpoints.push(endpoint);
    causes.set(key, cause);
    return cause;
  };

  /** An answer is shown while it has a difference that has not been shown often enough. */
  const isWorthShowing = (shown: readonly ReportedDifference[]): boolean =>
    shown.some(({ kind, answers }) => answers <= (kind === "explained" ? MAX_EXPLAINED_EXAMPLES : MAX_EXAMPLES));

  return {
    get state() {
      return { ...state, differences: groups.entries(), causes: [...causes], failures: [...failures] };
    },
    unexplained: () => Object.values(state.summaries).reduce((sum, one) => sum + one.unexplained, 0),
    fieldsOf: (endpoint) => (state.fields[endpoint] ??= {}),
    add(outcome) {
      const { endpoint, curl } = outcome;
      const summary = (state.summaries[endpoint] ??= zeroSummary());
      if ("failed" in outcome) {
        summary.failed++;
        const key = `${endpoint} ${outcome.failed}`;
        const failure = failures.get(key) ?? { endpoint, why: outcome.failed, count: 0, curl };
        failure.count++;
        failures.set(key, failure);
        return;
      }
      if (outcome.answers) countAnswers(state, endpoint, outcome.answers);
      const { differences } = outcome;
      const result = resultOf(differences);
      summary.compared++;
      summary[result]++;
      const shown = differences.map((difference) =>
        groups.add(endpoint, difference, ({ at: _at, cause: _cause, ...one }) => ({
          ...one,
          endpoint,
          count: 0,
          answers: 0,
          curl,
        })),
      );
      const causesOfAnswer = new Set<Cause>();
      for (const difference of differences) {
        const cause = causeFor(endpoint, difference, curl);
        cause.fields += difference.count;
        causesOfAnswer.add(cause);
      }
      for (const cause of causesOfAnswer) cause.answers++;
      const request = requestOf(outcome);
      if (!isWorthShowing(shown) || exampleChars > MAX_EXAMPLE_CHARS || shownRequests.has(request)) return;
      const example = { endpoint, result, curl, ...outcome.example() };
      exampleChars += JSON.stringify(example).length;
      shownRequests.add(request);
      state.examples.push(example);
    },
  };
};

const requestOf = ({ endpoint, curl }: Pick<ExampleAnswer, "endpoint" | "curl">): string =>
  `${endpoint} ${curl.candidate}`;

const countAnswers = (state: TallyState, endpoint: string, { statuses, ms }: SideAnswers): void => {
  const pair = statuses.join(" ");
  const pairs = (state.statuses[endpoint] ??= {});
  pairs[pair] = (pairs[pair] ?? 0) + 1;
  const latency = (state.latency[endpoint] ??= {});
  for (const side of ["legacy", "candidate"] as const) {
    const taken = ms[side];
    if (taken !== undefined) addLatency((latency[side] ??= noLatencies()), taken);
  }
};

const rank: Record<DifferenceResult, number> = { unexplained: 0, drift: 1, expected: 2, explained: 3, equal: 4 };

type About = Pick<Report, "made" | "sides" | "skipped"> & { endpoints: Readonly<Record<string, Endpoint>> };

/** The report of what has been counted: unexplained differences first, then those that most answers show. */
export const reportOf = (state: TallyState, { made, sides, skipped, endpoints }: About): Report => {
  const worstFirst = (a: { kind: Classification; answers: number }, b: { kind: Classification; answers: number }) =>
    rank[a.kind] - rank[b.kind] || b.answers - a.answers;
  const counted = Object.entries(endpoints).flatMap(([name, { output }]) => {
    const summary = state.summaries[name];
    return summary ? [{ name, summary, ...fieldReports(name, output, state.fields[name] ?? {}) }] : [];
  });
  return {
    made,
    sides,
    summary: counted.map(({ summary }) => summary).reduce(addSummaries, zeroSummary()),
    endpoints: Object.fromEntries(counted.map(({ name, summary }) => [name, summary])),
    statuses: counted.flatMap(({ name }) => statusesOf(name, state.statuses[name] ?? {})),
    latency: counted.flatMap(({ name }) => latencyOf(name, state.latency[name] ?? {})),
    differences: state.differences.map(([, difference]) => difference).toSorted(worstFirst),
    causes: state.causes.map(([, cause]) => cause).toSorted(worstFirst),
    failures: state.failures.map(([, failure]) => failure).toSorted((a, b) => b.count - a.count),
    examples: state.examples.toSorted((a, b) => rank[a.result] - rank[b.result]),
    coverage: counted.flatMap(({ coverage }) => coverage),
    schemaDrift: counted.flatMap(({ schemaDrift }) => schemaDrift),
    skipped,
  };
};

/** The most frequent pair of statuses first. */
const statusesOf = (endpoint: string, pairs: Readonly<Record<string, number>>): StatusPair[] =>
  Object.entries(pairs)
    .map(([pair, answers]) => {
      const [from = 0, to = 0] = pair.split(" ").map(Number);
      return { endpoint, from, to, answers };
    })
    .toSorted((a, b) => b.answers - a.answers);

const latencyOf = (endpoint: string, sides: TallyState["latency"][string]): SideLatency[] =>
  (["legacy", "candidate"] as const).flatMap((side) => {
    const latencies = sides[side] ?? noLatencies();
    const [p50, p95] = [latencyQuantile(latencies, 0.5), latencyQuantile(latencies, 0.95)];
    return p50 === undefined || p95 === undefined ? [] : [{ endpoint, side, p50, p95, total: latencies.total }];
  });

const addSummaries = (a: Summary, b: Summary): Summary =>
  Object.fromEntries(Object.keys(a).map((key) => [key, a[key as keyof Summary] + b[key as keyof Summary]])) as Summary;
