import type { ServerResponse } from "node:http";
import type { Dependencies } from "./dependencies.ts";
import { type AnswerCounts, answerResults, type Meter } from "./meter.ts";
import { openRecentTimes } from "./recentTimes.ts";
import type { Traffic } from "./traffic.ts";

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

/** True for a status that only failed reads have. Legacy's errors may have any other. */
const showsFailure = (status: number): boolean =>
  status >= 500 || status === 429 || (status >= 300 && status < 400 && status !== 304);

/**
 * Dependencies that fail where legacy does not answer callers as it should. `legacy_probe` is not
 * one of them: while it fails, legacy may answer callers well.
 *
 * @example dependencies.failed().some(({ name }) => legacyTroubles.has(name))
 */
export const legacyTroubles: ReadonlySet<string> = new Set([
  "legacy",
  "legacy_access",
  "legacy_speed",
  "legacy_room",
  "legacy_endpoints",
]);

/** The counts of old clients' reads. */
export type ReadCounts = ReturnType<typeof openReadCounts>;

/** Where reads are counted, and what is looked at. */
type ReadCountsParts = { meter: Meter; dependencies: Dependencies; traffic: Pick<Traffic, "addReads"> };

/**
 * Counts the reads of old clients by how they are answered and by what they ask for, and times them. `name`: the one
 * under which their answers are stored, of which there are few.
 */
export const openReadCounts = ({ meter, dependencies, traffic }: ReadCountsParts) => {
  /** Of these, `errors` are those that failed; looked up by a name that is made once a path. */
  const byName = new Map<string, AnswerCounts>();
  const of = (name: string): AnswerCounts => {
    let counts = byName.get(name);
    if (counts === undefined) {
      byName.set(name, (counts = { requests: 0, hits: 0, errors: 0 }));
      traffic.addReads(name, () => byName.get(name) as AnswerCounts);
    }
    return counts;
  };
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
  const fail = (name: string): void => {
    failures.value++;
    of(name).errors++;
  };
  return {
    /**
     * `result`: as the metrics name it. `ms`: from the arrival of a read to its answer; absent
     * where legacy alone answers.
     */
    count(name: string, result: string, ms?: number): void {
      (byResult.get(result) as { value: number }).value++;
      const isHit = hitResults.includes(result);
      const counts = of(name);
      counts.requests++;
      if (isHit || result === "stale_if_error") counts.hits++;
      else if (ms !== undefined && result !== "error") (counts.misses ??= openRecentTimes()).add(ms);
      if (ms !== undefined) (isHit ? hitsTook : othersTook).observe(ms / 1000);
      if ((result === "miss" || result === "revalidated") && trouble === undefined) before = failed();
    },
    /** It went to legacy by itself: what it asks for is not stored. */
    countPassed(name: string): void {
      passed.value++;
      of(name).requests++;
    },
    /** Counts a failed read by its status, also where legacy answers it. */
    watch(name: string, res: ServerResponse): void {
      res.once("close", () => {
        if (res.headersSent && showsFailure(res.statusCode)) fail(name);
      });
    },
    /** A read has failed. This counts it where its status does not show it: code 107, or a page with 200. */
    countHiddenFailure(name: string, status: number): void {
      if (!showsFailure(status)) fail(name);
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
