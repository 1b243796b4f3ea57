import type { Core } from "../../gateway/answer/feature.ts";
import { answerResults } from "../../operation/telemetry/meter.ts";

/** Reads of old clients since the start. `outage`: since when legacy has been failing, and the stale answers since then. */
export type ReadsView = { requests: number; hits: number; outage?: { since: string; stale: number } };

/** It went to legacy by itself: what it asks for is not stored. */
export const PASSED = "passed";

/** Counts the reads of old clients by how they are answered. `outageSince`: since when legacy has been failing. */
export const openReadCounts = ({ meter }: Pick<Core, "meter">, outageSince: () => string | undefined) => {
  const reads = meter.counter(
    "old_reads_total",
    "Reads of legacy's own interface that CACHE_LEGACY covers, by how they were answered (passed: by legacy alone).",
    ["result"],
  );
  const byResult = new Map([...answerResults, PASSED].map((result) => [result, reads(result)]));
  const counted = (results: Iterable<string>): number =>
    [...results].reduce((sum, result) => sum + (byResult.get(result)?.value ?? 0), 0);
  /** Answers that were stale for legacy's failure, since it last answered. */
  let stale = 0;
  return {
    /** `result`: as the metrics name it. */
    count: (result: string): void => {
      (byResult.get(result) as { value: number }).value++;
      if (result === "stale_if_error") stale++;
      // The first failures come before the outage is known.
      else if ((result === "miss" || result === "revalidated") && outageSince() === undefined) stale = 0;
    },
    view: (): ReadsView => {
      const since = outageSince();
      return {
        requests: counted(byResult.keys()),
        hits: counted(["hit", "stale"]),
        ...(since === undefined ? {} : { outage: { since, stale } }),
      };
    },
  };
};
