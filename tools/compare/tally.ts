import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import type { Endpoint } from "../../src/catalogue/index.ts";
import type { CurlPair } from "../../libraries/compare/curls.ts";
import {
  causeOf,
  type Classification,
  type Difference,
  type DifferenceResult,
  resultOf,
  zeroCounts,
} from "../../libraries/compare/difference.ts";
import { openDifferenceGroups } from "../../libraries/compare/differenceGroups.ts";
import type { NotCompared } from "../../libraries/compare/results.ts";
import { fieldReports, type SeenFields } from "./fields.ts";
import type { Cause, ExampleAnswer, Report, ReportedDifference, SideLatency, Summary } from "./report/report.ts";

/** The answers of both sides. `statuses`: those of a `StatusPair`; `ms`: the time of each side that got a request. */
type SideAnswers = {
  statuses: readonly [from: number, to: number];
  ms: { legacy?: number; candidate?: number };
};

/** The outcome of a compared request: its differences and their rows, or the reason why it could not be compared. */
export type ComparisonOutcome = { endpoint: string; curl: CurlPair; answers?: SideAnswers } & (
  | { differences: Difference[]; example: () => Omit<ExampleAnswer, "endpoint" | "curl" | "result"> }
  | { notCompared: NotCompared; why: string }
);

/** The counts of an endpoint. `statuses`: the answers of each pair of them (`412 404`). */
type EndpointCounts = {
  summary: Summary;
  statuses: Map<string, number>;
  latency: Record<SideLatency["side"], RecordableHistogram>;
  fields: SeenFields;
};

type ReportHead = Pick<Report, "made" | "sides" | "skipped"> & { endpoints: Readonly<Record<string, Endpoint>> };

/** The largest number of distinct differences of an endpoint. */
const MAX_DIFFERENCES = 1000;
/** The largest number of distinct reasons why answers could not be compared. */
const MAX_FAILURES = 1000;
/** The number of answers that are shown for an explained difference, and for any other difference. */
const MAX_EXPLAINED_EXAMPLES = 1;
const MAX_EXAMPLES = 3;
/** The most characters of all examples together. */
const MAX_EXAMPLE_CHARS = 8 * 1024 ** 2;

/** Counts outcomes in memory that does not grow with their number. */
export const openTally = () => {
  const groups = openDifferenceGroups<ReportedDifference>(MAX_DIFFERENCES);
  const byEndpoint = new Map<string, EndpointCounts>();
  const causes = new Map<string, Cause>();
  const failures = new Map<string, Report["failures"][number]>();
  const examples = new Map<string, ExampleAnswer>();
  let exampleChars = 0;

  const countedOf = (endpoint: string): EndpointCounts => {
    const counts = byEndpoint.get(endpoint) ?? {
      summary: zeroSummary(),
      statuses: new Map(),
      latency: { legacy: openTimes(), candidate: openTimes() },
      fields: new Map(),
    };
    byEndpoint.set(endpoint, counts);
    return counts;
  };

  const causeFor = (endpoint: string, difference: Difference, curl: CurlPair): Cause => {
    const { kind } = difference;
    const name = causeOf(difference);
    const key = `${kind} ${name}`;
    const cause: Cause = causes.get(key) ?? { kind, name, fields: 0, answers: 0, endpoints: [], curl };
    causes.set(key, cause);
    if (!cause.endpoints.includes(endpoint)) cause.endpoints.push(endpoint);
    return cause;
  };

  /** An answer is shown while it has a difference that has not been shown often enough. */
  const isWorthShowing = (shown: readonly ReportedDifference[]): boolean =>
    shown.some(({ kind, answers }) => answers <= (kind === "explained" ? MAX_EXPLAINED_EXAMPLES : MAX_EXAMPLES));

  const summed = (): Summary => {
    const sum = zeroSummary();
    for (const { summary } of byEndpoint.values())
      for (const name of Object.keys(sum) as (keyof Summary)[]) sum[name] += summary[name];
    return sum;
  };

  return {
    /** The number of answers so far, and of those that differ without a reason. */
    counts: () => {
      const { compared, unreadable, failed, unexplained } = summed();
      return { done: compared + unreadable + failed, unexplained };
    },
    /** The fields seen of an endpoint; the caller adds to them. */
    fieldsOf: (endpoint: string): SeenFields => countedOf(endpoint).fields,
    add(outcome: ComparisonOutcome): void {
      const { endpoint, curl, answers } = outcome;
      const { summary, statuses, latency } = countedOf(endpoint);
      if ("notCompared" in outcome) {
        const kind = outcome.notCompared;
        summary[kind]++;
        const isKnown = failures.size < MAX_FAILURES || failures.has(`${endpoint} ${kind} ${outcome.why}`);
        const why = isKnown ? outcome.why : "(other reasons)";
        const key = `${endpoint} ${kind} ${why}`;
        const failure = failures.get(key) ?? { endpoint, kind, why, count: 0, curl };
        failures.set(key, failure);
        failure.count++;
        return;
      }
      if (answers) {
        const pair = answers.statuses.join(" ");
        statuses.set(pair, (statuses.get(pair) ?? 0) + 1);
        for (const side of ["legacy", "candidate"] as const) {
          const taken = answers.ms[side];
          if (taken !== undefined) latency[side].record(Math.max(1, Math.round(Math.min(taken * 1000, HOUR))));
        }
      }
      const { differences } = outcome;
      const result = resultOf(differences);
      summary.compared++;
      summary[result]++;
      const shown = differences.map((difference) => {
        const group = groups.of(endpoint, difference, ({ at: _at, ...first }) => ({
          endpoint,
          ...first,
          count: 0,
          answers: 0,
          curl,
        }));
        group.count += difference.count;
        group.answers++;
        return group;
      });
      const causesOfAnswer = new Set<Cause>();
      for (const [i, difference] of differences.entries()) {
        // The group's path: a candidate may invent paths, and causes have the same bound as groups.
        const cause = causeFor(endpoint, { ...difference, path: shown[i]?.path ?? difference.path }, curl);
        cause.fields += difference.count;
        causesOfAnswer.add(cause);
      }
      for (const cause of causesOfAnswer) cause.answers++;
      const request = `${endpoint} ${curl.candidate}`;
      if (!isWorthShowing(shown) || exampleChars > MAX_EXAMPLE_CHARS || examples.has(request)) return;
      const example = { endpoint, result, curl, ...outcome.example() };
      exampleChars += JSON.stringify(example).length;
      examples.set(request, example);
    },
    /** The report of all counted answers: unexplained differences first, then those that most answers show. */
    report({ made, sides, skipped, endpoints }: ReportHead): Report {
      const counted = Object.entries(endpoints).flatMap(([name, { output }]) => {
        const found = byEndpoint.get(name);
        return found ? [{ name, ...found, ...fieldReports(name, output, found.fields) }] : [];
      });
      return {
        summary: summed(),
        endpoints: Object.fromEntries(counted.map(({ name, summary }) => [name, summary])),
        statuses: counted.flatMap(({ name, statuses }) =>
          [...statuses]
            .map(([pair, answers]) => {
              const [from = 0, to = 0] = pair.split(" ").map(Number);
              return { endpoint: name, from, to, answers };
            })
            .toSorted((a, b) => b.answers - a.answers),
        ),
        latency: counted.flatMap(({ name, latency }) => [
          ...latencyOf(name, "legacy", latency.legacy),
          ...latencyOf(name, "candidate", latency.candidate),
        ]),
        differences: groups.all().toSorted(worstFirst),
        causes: [...causes.values()].toSorted(worstFirst),
        failures: [...failures.values()].toSorted((a, b) => b.count - a.count),
        coverage: counted.flatMap(({ coverage }) => coverage),
        schemaDrift: counted.flatMap(({ schemaDrift }) => schemaDrift),
        skipped,
        made,
        sides,
        examples: [...examples.values()].toSorted((a, b) => rank[a.result] - rank[b.result]),
      };
    },
  };
};

const zeroSummary = (): Summary => ({ ...zeroCounts(), unreadable: 0, failed: 0 });

const rank: Record<DifferenceResult, number> = { unexplained: 0, drift: 1, expected: 2, explained: 3, equal: 4 };

type Ranked = { kind: Classification; answers: number };
const worstFirst = (a: Ranked, b: Ranked): number => rank[a.kind] - rank[b.kind] || b.answers - a.answers;

/** Microseconds. */
const HOUR = 3_600_000_000;

/** Counts durations in microseconds, to within one percent. */
const openTimes = (): RecordableHistogram => createHistogram({ highest: HOUR, figures: 2 });

const latencyOf = (endpoint: string, side: SideLatency["side"], times: RecordableHistogram): SideLatency[] => {
  const [p50, p95] = [times.percentile(50) / 1000, times.percentile(95) / 1000];
  return times.count === 0 ? [] : [{ endpoint, side, p50, p95, total: (times.mean * times.count) / 1000 }];
};
