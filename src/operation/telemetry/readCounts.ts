import { answerResults, type Meter } from "./meter.ts";
import { openRecentTimes } from "./recentTimes.ts";

/** The results of reads that need no request to legacy. */
const hitResults = new Set(["hit", "stale"]);

/** The counts of old clients' reads. */
export type ReadCounts = ReturnType<typeof openReadCounts>;

/**
 * Counts and times the reads of old clients, by the source of the answer and by endpoint. `name`: the name under which
 * their answers are cached; there are few.
 */
export const openReadCounts = (meter: Meter) => {
  const reads = meter.counter(
    "old_reads_total",
    "Reads of legacy's interface that CACHE_LEGACY covers, by how they were answered (passed: by legacy alone).",
    ["result"],
  );
  const durations = meter.histogram(
    "old_reads_duration_seconds",
    "From the arrival of such a read to its answer, by the backend that was asked (gateway: none); without those that passed.",
    ["backend"],
  );
  const took: Record<string, ReturnType<typeof durations>> = {
    gateway: durations("gateway"),
    legacy: durations("legacy"),
  };
  const passed = reads("passed");
  const byResult = new Map([...answerResults.map((result) => [result, reads(result)] as const), ["passed", passed]]);
  const names = new Set<string>();
  meter.total(
    "old_reads_failed_total",
    "Of these, those that got no answer, fresh or stored: a 5xx, a page of a front, code 107, or a part of one.",
    () => [...names].reduce((sum, name) => sum + meter.countsOf(name).errors, 0),
  );
  return {
    /** Notes that a read of this name has come. */
    begin: (name: string): void => void names.add(name),
    /**
     * Counts a read. `result`: as the metrics name it. `ms`: from the arrival of the read to its answer; absent if
     * legacy alone answers. `backend`: the side that answered.
     */
    count(name: string, result: string, ms?: number, backend = "legacy"): void {
      (byResult.get(result) as { value: number }).value++;
      const isHit = hitResults.has(result);
      const counts = meter.countsOf(name);
      counts.requests++;
      if (isHit || result === "stale_if_error") counts.hits++;
      else if (ms !== undefined && result !== "error") (counts.misses ??= openRecentTimes()).add(ms);
      if (ms !== undefined) (took[isHit ? "gateway" : backend] ??= durations(backend)).observe(ms / 1000);
    },
    /** Counts a read that was passed to legacy, since its answer is not cached. */
    countPassed(name: string): void {
      passed.value++;
      meter.countsOf(name).requests++;
    },
  };
};
