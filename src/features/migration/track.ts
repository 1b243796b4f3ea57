import { type Difference, type ResultCounts, resultOf } from "../../compare/difference.ts";
import type { ComparedRequests } from "./comparedRequests.ts";
import type { Evidence } from "./gate.ts";
import { openRecent, quantile } from "./recent.ts";
import type { AnswerCounts } from "../../telemetry/meter.ts";
import { openTraffic, type EndpointTraffic } from "./traffic.ts";
import type { Latency, Parity } from "./views.ts";
import { wilson } from "./wilson.ts";

/** Measures one endpoint: its traffic, how its sides answer, and how they agree. */
export type Track = EndpointTraffic & {
  /** A side has answered after `ms` milliseconds, or failed. */
  asked(side: "legacy" | "modern", ms: number, failed: boolean): void;
  /** Both sides were compared on one request, identified by `question`. */
  compared(question: string, differences: readonly Difference[]): void;
  /** A request of a canary came from a caller in this bucket (0-99). */
  calledFrom(bucket: number): void;
  /** How many such requests came since the endpoint moved last, if there are many and all from one bucket. */
  oneBucket(): number | undefined;
  /** The endpoint has moved: its gate begins anew. */
  moved(demoted: boolean): void;
  /** The gate demoted it at this time, in milliseconds since the epoch. */
  wasDemoted(at: number): void;
  /** Of all requests that count. */
  parity(): Parity;
  /** Since the endpoint moved last. */
  parityInStage(): Parity;
  latency(side: "legacy" | "modern"): Latency;
  errorRate(): number;
  evidence(): Evidence;
};

/** The recent answers and comparisons that evidence covers. */
const RECENT = 200;
/** Requests of a canary after which callers of one bucket alone are worth a warning. */
const MANY_CALLS = 100;
/** Opens a track. `now` gives milliseconds since the epoch. */
export const openTrack = (
  requests: ComparedRequests,
  traffic: () => AnswerCounts,
  now: () => number = Date.now,
): Track => {
  const times = { legacy: openRecent(RECENT), modern: openRecent(RECENT) };
  const failures = openRecent(RECENT);
  const results = openRecent(RECENT);
  const comparisons = { sinceStart: 0, inStage: 0 };
  const buckets = new Set<number>();
  let calls = 0;
  let movedAt = now();
  let demotedAt: number | undefined;
  const parityOf = (counts: ResultCounts, made: number): Parity => {
    const { good, judged } = evidenceOf(counts);
    return { ...counts, comparisons: made, lower: wilson(good, judged).lower };
  };
  const p95 = (side: "legacy" | "modern") => quantile(times[side].values(), 0.95);

  return {
    ...openTraffic(traffic, now),
    asked(side, ms, failed) {
      if (side === "modern") failures.add(failed ? 1 : 0);
      if (!failed) times[side].add(ms);
    },
    compared(question, differences) {
      const result = resultOf(differences);
      requests.add(question, result);
      comparisons.sinceStart++;
      comparisons.inStage++;
      if (result !== "drift") results.add(result === "unexplained" ? 0 : 1);
    },
    calledFrom(bucket) {
      calls++;
      buckets.add(bucket);
    },
    oneBucket: () => (calls >= MANY_CALLS && buckets.size === 1 ? calls : undefined),
    moved(demoted) {
      comparisons.inStage = 0;
      calls = 0;
      buckets.clear();
      for (const one of [results, failures, times.modern]) one.clear();
      movedAt = now();
      demotedAt = demoted ? now() : undefined;
    },
    wasDemoted: (at) => void (demotedAt = at),
    parity: () => parityOf(requests.counts(), comparisons.sinceStart),
    parityInStage: () => parityOf(requests.counts(movedAt), comparisons.inStage),
    latency(side) {
      const [p50, high] = [quantile(times[side].values(), 0.5), p95(side)];
      return p50 === undefined || high === undefined ? undefined : { p50, p95: high };
    },
    errorRate() {
      const all = failures.values();
      return all.length === 0 ? 0 : all.reduce((sum, one) => sum + one, 0) / all.length;
    },
    evidence() {
      const recent = results.values();
      const failed = failures.values();
      return {
        ...evidenceOf(requests.counts(movedAt)),
        minutes: (now() - movedAt) / 60_000,
        recent: { good: recent.reduce((sum, one) => sum + one, 0), judged: recent.length },
        modern: {
          asked: failed.length,
          failed: failed.reduce((sum, one) => sum + one, 0),
          times: times.modern.values(),
        },
        ...(demotedAt === undefined ? {} : { sinceDemotion: (now() - demotedAt) / 60_000 }),
      };
    },
  };
};

// Drift is a change between two requests, not evidence on either side.
const evidenceOf = ({
  compared,
  drift,
  unexplained,
}: ResultCounts): Pick<Evidence, "requests" | "good" | "judged"> => ({
  requests: compared,
  good: compared - drift - unexplained,
  judged: compared - drift,
});
