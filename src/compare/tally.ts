import { causeOf } from "./causes.ts";
import { type Difference, nothingCounted, sameness, type DifferenceResult, standingOf } from "./difference.ts";
import type { SeenFields } from "./fields.ts";
import type { Cause, CurlPair, Exhibit, ReportedDifference, Summary } from "./report.ts";

/** What came of one question: its differences and how to show it, or why it could not be compared. */
export type Outcome = { endpoint: string; curl: CurlPair } & (
  | { differences: Difference[]; exhibit: () => Omit<Exhibit, "endpoint" | "curl" | "standing"> }
  | { failed: string }
);

/** Everything counted so far, as plain data: it can be written to a file and gone on with. */
export type TallyState = {
  summaries: Record<string, Summary>;
  differences: [sameness: string, ReportedDifference][];
  causes: [name: string, Cause][];
  failures: [name: string, { endpoint: string; why: string; count: number; curl: CurlPair }][];
  exhibits: Exhibit[];
  fields: Record<string, SeenFields>;
};

export type Tally = {
  state: TallyState;
  add(outcome: Outcome): void;
  /** Answers that differ without a reason, so far. */
  unexplained(): number;
  /** What has been seen of an endpoint's legacy fields, to be added to. */
  fieldsOf(endpoint: string): SeenFields;
};

/** Paths are the candidate's to invent: so many differences of one endpoint are told apart, the rest are counted together. */
const MOST_DIFFERENCES = 1000;
/** Answers shown for one explained, and for any other difference; characters of rows of all exhibits together. */
const SHOWN_EXPLAINED = 1;
const SHOWN = 3;
const MOST_SHOWN = 8 * 1024 ** 2;

const nothing = (): Summary => ({ ...nothingCounted(), failed: 0 });

export const emptyTally = (): TallyState => ({
  summaries: {},
  differences: [],
  causes: [],
  failures: [],
  exhibits: [],
  fields: {},
});

/** Counts outcomes in a memory that does not grow with their number. */
export const openTally = (state: TallyState = emptyTally()): Tally => {
  const differences = new Map(state.differences);
  const causes = new Map(state.causes);
  const failures = new Map(state.failures);
  const perEndpoint = new Map<string, number>();
  for (const { endpoint } of differences.values()) perEndpoint.set(endpoint, (perEndpoint.get(endpoint) ?? 0) + 1);
  let shown = JSON.stringify(state.exhibits).length;

  const group = (endpoint: string, difference: Difference, curl: CurlPair): ReportedDifference => {
    const key = `${endpoint} ${sameness(difference)}`;
    const known = differences.get(key);
    if (known) return known;
    const many = perEndpoint.get(endpoint) ?? 0;
    if (many >= MOST_DIFFERENCES) {
      const others = { ...difference, path: "(other paths)", rule: undefined, entry: undefined };
      const ofOthers = `${endpoint} ${sameness(others)}`;
      const together = differences.get(ofOthers) ?? reported(endpoint, others, curl);
      differences.set(ofOthers, together);
      return together;
    }
    const made = reported(endpoint, difference, curl);
    differences.set(key, made);
    perEndpoint.set(endpoint, many + 1);
    return made;
  };

  const cause = (endpoint: string, difference: Difference, curl: CurlPair): Cause => {
    const { kind } = difference;
    const name = causeOf(difference);
    const key = `${kind} ${name}`;
    const known = causes.get(key) ?? { kind, name, fields: 0, answers: 0, endpoints: [], curl };
    if (!known.endpoints.includes(endpoint)) known.endpoints.push(endpoint);
    causes.set(key, known);
    return known;
  };

  /** Worth showing while it has a difference that has not been shown often enough. */
  const isWorthShowing = (groups: readonly ReportedDifference[]): boolean =>
    groups.some(({ kind, answers }) => answers <= (kind === "explained" ? SHOWN_EXPLAINED : SHOWN));

  return {
    get state() {
      return { ...state, differences: [...differences], causes: [...causes], failures: [...failures] };
    },
    unexplained: () => Object.values(state.summaries).reduce((sum, one) => sum + one.unexplained, 0),
    fieldsOf: (endpoint) => (state.fields[endpoint] ??= {}),
    add(outcome) {
      const { endpoint, curl } = outcome;
      const summary = (state.summaries[endpoint] ??= nothing());
      if ("failed" in outcome) {
        summary.failed++;
        const key = `${endpoint} ${outcome.failed}`;
        const failure = failures.get(key) ?? { endpoint, why: outcome.failed, count: 0, curl };
        failure.count++;
        failures.set(key, failure);
        return;
      }
      const standing: DifferenceResult = standingOf(outcome.differences);
      summary.compared++;
      summary[standing]++;
      const groups = outcome.differences.map((difference) => {
        const found = group(endpoint, difference, curl);
        found.count += difference.count;
        found.answers++;
        return found;
      });
      for (const difference of outcome.differences) cause(endpoint, difference, curl).fields += difference.count;
      for (const one of new Set(outcome.differences.map((difference) => cause(endpoint, difference, curl))))
        one.answers++;
      if (!isWorthShowing(groups) || shown > MOST_SHOWN) return;
      const exhibit = { endpoint, standing, curl, ...outcome.exhibit() };
      shown += JSON.stringify(exhibit).length;
      state.exhibits.push(exhibit);
    },
  };
};

const reported = (endpoint: string, difference: Difference, curl: CurlPair): ReportedDifference => {
  const { path, form, kind, rule, entry, legacy, expected, candidate } = difference;
  return { endpoint, path, kind, form, rule, entry, legacy, expected, candidate, count: 0, answers: 0, curl };
};
