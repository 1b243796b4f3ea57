import { type CanonicalRequest, canonicalRequest, formatRequest } from "../../libraries/compare/canonicalRequest.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Core } from "../../src/gateway/index.ts";
import type { LegacyQuery } from "../../libraries/compare/answers.ts";
import { curlsOf } from "../../libraries/compare/curls.ts";
import type { Difference } from "../../libraries/compare/difference.ts";
import { MAX_COMPARED_BYTES } from "../../libraries/compare/compareAnswers.ts";
import { compareTwice } from "../../libraries/compare/compareTwice.ts";
import { compareSides } from "../../libraries/modern/compareSides.ts";
import { type AnsweredRequest, openMirroredSides, originOf } from "./mirroredSides.ts";
import { openMirrorBudget } from "./mirrorBudget.ts";
import type { Modern } from "./modern.ts";
import type { Migration } from "./migration.ts";

type ComparedCore = Pick<Core, "settings" | "totalTimeout" | "errors" | "cache" | "observer">;

/**
 * Opens the comparison of answered requests on both sides, in the background. `rate`: most comparisons that start in
 * a second, and that run at a time. `recheck`: milliseconds until a mismatch is checked again.
 */
export const openShadow = (
  { settings, totalTimeout, errors, cache, observer }: ComparedCore,
  modern: Modern,
  migration: Migration,
  rate: number,
  recheck: number,
) => {
  const addresses = { legacy: settings.LEGACY_URL + settings.LEGACY_PATH, candidate: modern.url, keyName: "KEY" };
  const answersOf = openMirroredSides(modern, migration, totalTimeout);
  const budget = openMirrorBudget(rate);
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  const compare = async (request: AnsweredRequest): Promise<void> => {
    const { endpoint, input } = request.context;
    const canonical = canonicalRequest(endpoint, input, modern.routes[endpoint.name]);
    const settle = () => sleep(recheck, undefined, { signal: stopping.signal, ref: false });
    const { differences } = await compareTwice((again) => compareOnce(request, canonical, again), settle);
    if (differences) record(request, canonical, differences);
  };

  /** Compares both sides once; without `differences` if one of them gave no answer that can be compared. */
  const compareOnce = async (
    request: AnsweredRequest,
    canonical: CanonicalRequest,
    again: boolean,
  ): Promise<{ differences?: Difference[] }> => {
    const { endpoint, input } = request.context;
    const [expected, candidate] = await answersOf(request, canonical, again);
    for (const reply of [expected, candidate]) if ("bytes" in reply) budget.spend(reply.bytes);
    // If legacy fails, there is no expectation. Failures of modern are counted by its track.
    if ("failed" in expected || "failed" in candidate || expected.status >= 500) return {};
    if (expected.bytes > MAX_COMPARED_BYTES || candidate.bytes > MAX_COMPARED_BYTES) return {};
    const { ledger } = migration.comparisons;
    const compared = { endpoint, input, errors, ledger: ledger.today(), origin: originOf(endpoint, expected) };
    return { differences: compareSides(compared, expected, candidate) };
  };

  const record = (request: AnsweredRequest, canonical: CanonicalRequest, differences: Difference[]): void => {
    const { endpoint, legacy, key } = request.context;
    // Modern no longer gives the cached answer that was served.
    if (request.backend === "modern" && request.answered.how.hit && differences.some(({ kind }) => kind === "drift"))
      cache.invalidate({ endpoint: endpoint.name, soft: false })?.catch(observer.fault);
    const legacyQuery: LegacyQuery | undefined =
      "unsent" in legacy ? undefined : { request: legacy, format: endpoint.format ?? "json" };
    migration.compared({
      id: JSON.stringify([canonical.path, canonical.body]),
      endpoint: endpoint.name,
      question: formatRequest(canonical),
      at: new Date().toISOString(),
      differences,
      curl: (secrets) => curlsOf(addresses, canonical, key !== undefined, legacyQuery, secrets),
      key,
    });
  };

  return {
    /** Compares both sides, if the budget has room. */
    compare(request: AnsweredRequest): void {
      if (stopping.signal.aborted || !budget.enter(running.size)) return;
      const comparison = compare(request)
        .catch((error: Error) => {
          if (!stopping.signal.aborted) observer.fault(error);
        })
        .finally(() => running.delete(comparison));
      running.add(comparison);
    },
    /** The number of comparisons that the budget had no room for. */
    shed: budget.shed,
    /** Stops comparing, and resolves when the running comparisons have ended. */
    async idle(): Promise<void> {
      stopping.abort();
      await Promise.all(running);
    },
  };
};
