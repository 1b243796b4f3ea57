import type { ServerResponse } from "node:http";
import type { Dependencies } from "./dependencies.ts";
import { answerResults, type Meter } from "./meter.ts";

/**
 * Reads of old clients since the start, and since legacy is in trouble: those from the cache, and those that failed.
 */
type ReadsView = {
  requests: number;
  hits: number;
  trouble?: { since: string; cached: number; failed: number };
};

/** Results of reads for which legacy was not asked. */
const hitResults = ["hit", "stale"];

/** Statuses of legacy's own answers to reads, an empty 500 aside, and of what the cache makes of them. */
const legacysStatuses = new Set([200, 206, 304, 412, 450]);

/** Dependencies that fail where legacy does not answer callers as it should. */
const legacyTroubles = new Set(["legacy", "legacy_access", "legacy_speed", "legacy_room", "legacy_endpoints"]);

/** The counts of old clients' reads. */
export type ReadCounts = ReturnType<typeof openReadCounts>;

/** Counts the reads of old clients by how they are answered, and times them. */
export const openReadCounts = ({ meter, dependencies }: { meter: Meter; dependencies: Dependencies }) => {
  const reads = meter.counter(
    "old_reads_total",
    "Reads of legacy's own interface that CACHE_LEGACY covers, by how they were answered (passed: by legacy alone).",
    ["result"],
  );
  const failures = meter.counter(
    "old_reads_failed_total",
    "Of these, those that got no answer of legacy's, fresh or stored: a 5xx, a page of a front, code 107.",
  )();
  const durations = meter.histogram(
    "old_reads_duration_seconds",
    "From the arrival of such a read to its answer, by the backend that was asked (gateway: none); without those that passed.",
    ["backend"],
  );
  const [hitsTook, othersTook] = [durations("gateway"), durations("legacy")];
  const passed = reads("passed");
  const byResult = new Map([...answerResults.map((result) => [result, reads(result)] as const), ["passed", passed]]);
  const counted = (results: Iterable<string>): number =>
    [...results].reduce((sum, result) => sum + (byResult.get(result)?.value ?? 0), 0);
  const troubledSince = (): string | undefined =>
    dependencies
      .failed()
      .flatMap(({ name, since }) => (legacyTroubles.has(name) ? [since] : []))
      .toSorted()[0];
  /** Reads that legacy has failed: answered from the cache all the same, or not. */
  const failed = () => ({ stale: counted(["stale_if_error"]), failed: failures.value });
  /** Those until legacy last answered as it should: the first failures come before the trouble is known. */
  let before = failed();
  /** Since when legacy is in trouble, and the hits until then. */
  let trouble: { since: string; hits: number } | undefined;
  dependencies.onChange(() => {
    const since = troubledSince();
    if (trouble !== undefined && since === undefined) before = failed();
    trouble = since === undefined ? undefined : (trouble ?? { since, hits: counted(hitResults) });
  });
  return {
    /**
     * `result`: as the metrics name it. `ms`: from the arrival of a read to its answer; absent
     * where legacy alone answers.
     */
    count(result: string, ms?: number): void {
      (byResult.get(result) as { value: number }).value++;
      if (ms !== undefined) (hitResults.includes(result) ? hitsTook : othersTook).observe(ms / 1000);
      if ((result === "miss" || result === "revalidated") && trouble === undefined) before = failed();
    },
    /** It went to legacy by itself: what it asks for is not stored. */
    countPassed(): void {
      passed.value++;
    },
    /** Counts a failed read by its status, also where legacy answers it. */
    watch(res: ServerResponse): void {
      res.once("close", () => {
        if (res.headersSent && !legacysStatuses.has(res.statusCode)) failures.value++;
      });
    },
    /** The answer of a read fails, and its status does not show it: code 107, or a page with 200. */
    countHiddenFailure(status: number): void {
      if (legacysStatuses.has(status)) failures.value++;
    },
    view: (): ReadsView => {
      const hits = counted(hitResults);
      const now = failed();
      return {
        requests: counted(byResult.keys()),
        hits,
        ...(trouble && {
          trouble: {
            since: trouble.since,
            cached: hits - trouble.hits + now.stale - before.stale,
            failed: now.failed - before.failed,
          },
        }),
      };
    },
  };
};
