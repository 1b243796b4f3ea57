import {
  type Difference,
  type DifferenceResult,
  type ResultCounts,
  zeroCounts,
  resultOf,
} from "../../compare/difference.ts";
import type { Evidence } from "./gate.ts";
import type { EndpointHistory } from "./history/slot.ts";
import { openRecent, quantile } from "./recent.ts";
import type { Latency, Parity } from "./views.ts";
import { wilson } from "./wilson.ts";

/** Measures one endpoint: its traffic, how its sides answer, and how they agree. */
export type Track = {
  /** So many callers were answered (default: one); `isHit`: from the cache. */
  answered(isHit: boolean, count?: number): void;
  /** A side has answered after `ms` milliseconds, or failed. */
  asked(side: "legacy" | "modern", ms: number, failed: boolean): void;
  /** Both sides were compared on one request, identified by `question`. */
  compared(question: string, differences: readonly Difference[]): void;
  /** So many requests of a canary (default: one) came from callers in this bucket (0-99). */
  calledFrom(bucket: number, count?: number): void;
  /** How many such requests came since the endpoint moved last, if there are many and all from one bucket. */
  oneBucket(): number | undefined;
  /** The ledger allows all differences that have been seen: no request counts as unexplained. */
  allowed(): void;
  /** The endpoint has moved: its gate begins anew. */
  moved(demoted: boolean): void;
  /** The gate demoted it at this time, in milliseconds since the epoch. */
  wasDemoted(at: number): void;
  /** Since the start. */
  parity(): Parity;
  /** Since the endpoint moved last. */
  parityInStage(): Parity;
  latency(side: "legacy" | "modern"): Latency;
  errorRate(): number;
  rate(): number;
  hitRatio(): number;
  evidence(): Evidence;
};

/** The recent answers and comparisons that evidence covers. */
const RECENT = 200;
const MAX_REQUESTS = 100_000;
/** Requests of a canary after which callers of one bucket alone are worth a warning. */
const MANY_CALLS = 100;
/** This half-minute and the one before. */
const MAX_SLOTS = 2;
const SLOT_MS = 30_000;

/** Opens an empty track, which also counts into the endpoint's history. `now` gives milliseconds since the epoch. */
export const openTrack = (history: EndpointHistory, now: () => number = Date.now): Track => {
  const times = { legacy: openRecent(RECENT), modern: openRecent(RECENT) };
  const failures = openRecent(RECENT);
  const results = openRecent(RECENT);
  const sinceStart = openAgreement();
  let inStage = openAgreement();
  const buckets = new Set<number>();
  let calls = 0;
  let movedAt = now();
  let demotedAt: number | undefined;
  const traffic = openTraffic(now);

  const p95 = (side: "legacy" | "modern") => quantile(times[side].values(), 0.95);

  return {
    ...traffic,
    answered(isHit, count) {
      traffic.answered(isHit, count);
      history.answered(isHit, count);
    },
    asked(side, ms, failed) {
      history.asked(side, ms, failed);
      if (side === "modern") failures.add(failed ? 1 : 0);
      if (!failed) times[side].add(ms);
    },
    compared(question, differences) {
      const result = resultOf(differences);
      for (const agreement of [sinceStart, inStage]) agreement.add(question, result);
      if (result !== "drift") {
        results.add(result === "unexplained" ? 0 : 1);
        history.compared(result !== "unexplained");
      }
    },
    calledFrom(bucket, count = 1) {
      calls += count;
      buckets.add(bucket);
    },
    oneBucket: () => (calls >= MANY_CALLS && buckets.size === 1 ? calls : undefined),
    allowed() {
      for (const agreement of [sinceStart, inStage]) agreement.allow();
    },
    moved(demoted) {
      inStage = openAgreement();
      calls = 0;
      buckets.clear();
      for (const one of [results, failures, times.modern]) one.clear();
      movedAt = now();
      demotedAt = demoted ? now() : undefined;
    },
    wasDemoted: (at) => void (demotedAt = at),
    parity: () => sinceStart.parity(),
    parityInStage: () => inStage.parity(),
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
        ...evidenceOf(inStage.parity()),
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

/**
 * Counts distinct requests: however often one is compared, it is one piece of evidence. An unexplained one stays so; otherwise its
 * latest result counts that is no drift.
 */
const openAgreement = () => {
  const results = new Map<string, DifferenceResult>();
  const counts = zeroCounts();
  let comparisons = 0;
  return {
    add(request: string, result: DifferenceResult): void {
      comparisons++;
      const before = results.get(request);
      if (before === "unexplained" || (before !== undefined && result === "drift")) return;
      counts[before ?? "compared"] += before === undefined ? 1 : -1;
      counts[result]++;
      results.set(request, result);
      // One that is forgotten counts again when it is compared again.
      if (results.size > MAX_REQUESTS) results.delete(results.keys().next().value ?? "");
    },
    allow(): void {
      for (const [request, result] of results) if (result === "unexplained") results.set(request, "expected");
      counts.expected += counts.unexplained;
      counts.unexplained = 0;
    },
    parity(): Parity {
      const { good, judged } = evidenceOf(counts);
      return { ...counts, comparisons, lower: wilson(good, judged).lower };
    },
  };
};

/** Counts callers' requests by half-minutes. */
const openTraffic = (now: () => number): Pick<Track, "answered" | "rate" | "hitRatio"> => {
  const slots: { at: number; count: number; hits: number }[] = [];
  const presentSlot = () => Math.floor(now() / SLOT_MS);
  const latest = () => slots.filter(({ at }) => at >= presentSlot() - 1);
  const sumOf = (name: "count" | "hits") => latest().reduce((sum, slot) => sum + slot[name], 0);
  return {
    answered(isHit, count = 1) {
      if (count === 0) return;
      const at = presentSlot();
      let slot = slots.at(-1);
      if (slot?.at !== at) {
        slot = { at, count: 0, hits: 0 };
        slots.push(slot);
        if (slots.length > MAX_SLOTS) slots.shift();
      }
      slot.count += count;
      if (isHit) slot.hits += count;
    },
    rate: () => sumOf("count") / ((SLOT_MS + (now() % SLOT_MS)) / 1000),
    hitRatio: () => (latest().length === 0 ? 0 : sumOf("hits") / sumOf("count")),
  };
};
