import { type Difference, type ResultCounts, resultOf } from "../../libraries/compare/difference.ts";
import { monotonic } from "../../src/operation/index.ts";
import type { ComparedRequests } from "./comparedRequests.ts";
import { type Evidence, wilson } from "./gate.ts";
import type { StageInForce } from "./stage.ts";
import type { Latency, Parity } from "./views.ts";

/** The measurements of one endpoint: how its sides answer, and how well they agree. */
export type Track = ReturnType<typeof openTrack>;

/** The recent answers and comparisons that evidence covers. */
export const RECENT_ANSWERS = 200;
/** Requests of a canary after which callers of one bucket alone are worth a warning. */
const MANY_CALLS = 100;

/** Opens the track of an endpoint. `requests`: its compared requests. */
export const openTrack = (requests: ComparedRequests, isWrite = false) => {
  const times: Record<"legacy" | "modern", number[]> = { legacy: [], modern: [] };
  /** 1 for each request to modern that failed. */
  const failures: number[] = [];
  /** 1 for each comparison without an unexplained difference. */
  const results: number[] = [];
  const buckets = new Set<number>();
  /** Minutes in which most of modern's answers failed, and the counts of the latest minute. */
  let failedMinutes = 0;
  let minute = { at: 0, answers: 0, failed: 0 };
  let calls = 0;
  const startedAt = Date.now();
  const openedAt = performance.now();
  let movedAt: number | undefined;
  /** The time of the endpoint's last move or of this gateway's start: evidence for its gate begins then. */
  const beginOf = ({ since }: StageInForce): number => Math.max(startedAt, Date.parse(since));
  /**
   * The time of its last move on the clock of `performance.now()`; this gateway's start if that lies in the future.
   */
  const moveOf = ({ since }: StageInForce): number => (movedAt ??= monotonic.fromStored(Date.parse(since)) ?? openedAt);

  return {
    /** Records that a side has answered after `ms` milliseconds, or failed. */
    asked(side: "legacy" | "modern", ms: number, failed: boolean): void {
      if (side === "modern") {
        addRecent(failures, failed ? 1 : 0);
        const at = Math.floor(performance.now() / 60_000);
        if (at !== minute.at) {
          if (hasFailed(minute)) failedMinutes++;
          minute = { at, answers: 0, failed: 0 };
        }
        minute.answers++;
        if (failed) minute.failed++;
      }
      if (!failed) addRecent(times[side], ms);
    },
    /** Records a comparison of both sides on one request, identified by `id`. */
    compared(id: string, differences: readonly Difference[]): void {
      const result = resultOf(differences);
      requests.add(id, result);
      if (result !== "drift") addRecent(results, result === "unexplained" ? 0 : 1);
    },
    /**
     * Counts a request of a canary from a caller in this bucket (0-99). True only for the request with which
     * `oneBucket` begins to give a number.
     */
    calledFrom(bucket: number): boolean {
      calls++;
      buckets.add(bucket);
      return calls === MANY_CALLS && buckets.size === 1;
    },
    /** The number of such requests since the endpoint's last move, if there are many and all from one bucket. */
    oneBucket: (): number | undefined => (calls >= MANY_CALLS && buckets.size === 1 ? calls : undefined),
    /** Resets the evidence for the gate after a move of the endpoint. */
    moved(): void {
      movedAt = performance.now();
      calls = 0;
      buckets.clear();
      failedMinutes = 0;
      minute = { at: 0, answers: 0, failed: 0 };
      for (const list of [results, failures, times.modern]) list.length = 0;
    },
    /** The parity of all requests that count. */
    parity: (): Parity => parityOf(requests.counts()),
    /** The parity since the endpoint's last move. */
    parityInStage: (at: StageInForce): Parity => parityOf(requests.counts(beginOf(at))),
    /**
     * Since when callers of this stage may have got unexplained differences (ISO 8601); `undefined` if there are no
     * such differences.
     */
    differsSince(at: StageInForce): string | undefined {
      const since = Math.max(requests.differsSince(), Date.parse(at.since));
      return since === Infinity ? undefined : new Date(since).toISOString();
    },
    latency(side: "legacy" | "modern"): Latency {
      const [p50, p95] = [quantile(times[side], 0.5), quantile(times[side], 0.95)];
      return p50 === undefined || p95 === undefined ? undefined : { p50, p95 };
    },
    errorRate: (): number => sum(failures) / Math.max(1, failures.length),
    evidence: (at: StageInForce): Evidence => ({
      isWrite,
      all: parityOf(requests.counts()),
      ...evidenceOf(requests.counts(beginOf(at))),
      minutes: (performance.now() - Math.max(openedAt, moveOf(at))) / 60_000,
      recent: { good: sum(results), conclusive: results.length },
      modern: { asked: failures.length, failed: sum(failures), times: times.modern },
      unexplained: requests.counts(Date.parse(at.since)).unexplained,
      failedMinutes: failedMinutes + (hasFailed(minute) ? 1 : 0),
      // A gate moves an endpoint to shadow only downwards. A hold does not end with a restart, nor begin
      // again in another gateway.
      ...(at.by === "gate" && at.stage === "shadow"
        ? { sinceDemotion: (performance.now() - moveOf(at)) / 60_000 }
        : {}),
    }),
  };
};

/** The least number of answers by which a minute counts as failed. */
const MIN_ANSWERS = 3;

const hasFailed = ({ answers, failed }: { answers: number; failed: number }): boolean =>
  answers >= MIN_ANSWERS && failed > answers / 2;

// Drift is a change between two requests, not evidence on either side.
const evidenceOf = ({
  compared,
  drift,
  unexplained,
}: ResultCounts): Pick<Evidence, "requests" | "good" | "conclusive"> => ({
  requests: compared,
  good: compared - drift - unexplained,
  conclusive: compared - drift,
});

const parityOf = (counts: ResultCounts): Parity => {
  const { good, conclusive } = evidenceOf(counts);
  return { ...counts, lower: wilson(good, conclusive).lower };
};

/** Adds to the last values of a sequence. */
const addRecent = (values: number[], value: number): void => {
  values.push(value);
  if (values.length > RECENT_ANSWERS) values.shift();
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The quantile at a share (0-1); `undefined` without values. */
const quantile = (values: readonly number[], share: number): number | undefined => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
};
