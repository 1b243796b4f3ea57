import type { CacheStatus } from "../../operation/telemetry/meter.ts";
import { LRUCache } from "lru-cache";
import { type CacheRequest, entryKey, type Fetch } from "./cacheRequest.ts";
import { type Entry, entryOf } from "./entry.ts";
import { backOff, isFailure, mayStore, storedFor, UNCACHEABLE_FOR } from "./policy.ts";
import { monotonic } from "../../operation/limits/monotonic.ts";
import type { Store } from "./store.ts";
import { type Answer, plainAnswer } from "../../catalogue/endpoint/answer.ts";
import { HIT, type Served } from "./served.ts";
import type { OpenSharedTier } from "./sharedTier.ts";
import { openSingleFlight } from "./singleFlight.ts";
import { openTieredEntries } from "./tieredEntries.ts";

/** The cache of answers: fresh and stale entries, one fetch for concurrent misses, invalidation by writes. */
export type Cache = ReturnType<typeof openCache>;

/** What the cache does beside answering, as the metrics count it. */
type CacheEvent = "refreshed" | "refresh_failed" | "coalesced" | "dropped" | "not_stored";

/** What a cache is opened with. */
type CacheSettings = {
  store: Store;
  openTier?: OpenSharedTier | undefined;
  count: (event: CacheEvent) => void;
  /** Called with failures in the background, which no client waits for. */
  onError: (error: unknown) => void;
  now?: () => number;
};

/** The result of a fetch. `isForOne`: others who wait for it ask for themselves. */
type FetchResult = { served: Served; isForOne?: boolean };

/** Opens the cache over a store, and over a shared tier where one is given. */
export const openCache = ({ store, openTier, count, onError, now = monotonic.now }: CacheSettings) => {
  const fetches = openSingleFlight<FetchResult>();
  const uncacheable = new LRUCache<string, true>({ max: 10_000, ttl: UNCACHEABLE_FOR, perf: monotonic });
  const entries = openTieredEntries({
    store,
    openTier,
    now,
    onInvalidation: () => fetches.clear(),
    onInvalidated: () => count("dropped"),
    onError,
  });

  /** Fetches the answer, and stores it where that is allowed. */
  const fetchAndStore = async (
    request: CacheRequest,
    owner: string | undefined,
    fetchAnswer: Fetch,
    how: CacheStatus,
    background = false,
  ): Promise<FetchResult> => {
    const { endpoint, lifetimesOf } = request.cacheKey;
    const key = entryKey(request, owner);
    const mark = entries.mark();
    const { answer, groups, isForOne } = await fetchAnswer(owner, background);
    const lifetimes = storedFor(lifetimesOf, answer.status, owner);
    if (lifetimes === undefined) {
      if (!isFailure(answer.status)) uncacheable.set(key, true);
      return {
        served: { answer, cacheable: true, how },
        isForOne: isForOne ?? !isFailure(answer.status),
      };
    }
    const entry = entryOf(answer, { endpoint, groups, lifetimes, storedAt: now(), owner });
    uncacheable.delete(key);
    const stored = mayStore(request.wanted) && entries.put(key, entry, mark);
    if (!stored) count("not_stored");
    return { served: { answer: entry, entry, how: { ...how, stored } } };
  };

  /** One fetch, and its failure, for all who ask the same at the same time. Any other answer that cannot be stored is for one caller alone. */
  const fetchOnce = async (
    request: CacheRequest,
    fetchAnswer: Fetch,
    how: CacheStatus,
    isAgain = false,
  ): Promise<Served> => {
    const { owner, wanted } = request;
    const key = entryKey(request, owner);
    const start = () => fetchAndStore(request, owner, fetchAnswer, how);
    if (uncacheable.has(key) || !mayStore(wanted)) return (await start()).served;
    const running = fetches.get(key);
    if (running === undefined) return (await fetches.launch(key, start())).served;
    count("coalesced");
    const { served, isForOne } = await running;
    // Else each of them in turn would ask legacy, in vain.
    const isLast = isAgain && served.entry === undefined && isFailure(served.answer.status);
    if (isForOne && !isLast) return fetchOnce(request, fetchAnswer, how, true);
    return { ...served, how: { ...how, collapsed: true } };
  };

  /** Fetches an entry anew while it is still being served. */
  const refresh = async (request: CacheRequest, entry: Entry, fetchAnswer: Fetch): Promise<void> => {
    const { owner, retryAt } = entry;
    const key = entryKey(request, owner);
    if (now() < retryAt || fetches.get(key)) return;
    let status = 500;
    try {
      const fetching = fetchAndStore({ ...request, wanted: {} }, owner, fetchAnswer, { fwd: "stale" }, true);
      const { served } = await fetches.launch(key, fetching);
      if (served.entry) return count("refreshed");
      ({ status } = served.answer);
    } catch (error) {
      onError(error);
    }
    applyFailure(key, status, entry);
    count("refresh_failed");
  };

  /** Waits longer before the next refresh. Any answer but a failure means that the entry is no longer right. */
  const applyFailure = (key: string, status: number, entry: Entry): void => {
    if (!isFailure(status)) return entries.invalidateEntry(key, entry);
    entry.failures++;
    entry.retryAt = now() + backOff(entry.failures);
  };

  return {
    ...entries,
    size: store.size,
    /** Answers from an entry or by a fetch. `authorize` is asked before an entry is served; what it returns is answered instead. */
    async answer(
      request: CacheRequest,
      fetchAnswer: Fetch,
      authorize: () => Promise<Answer | undefined>,
    ): Promise<Served> {
      const { wanted } = request;
      let found = entries.lookUp(request, now());
      if (found?.freshness !== "fresh") found = (await entries.lookUpShared(request)) ?? found;
      const serve = async (entry: Entry, how: CacheStatus): Promise<Served> => {
        const refusal = await authorize();
        return refusal ? { answer: refusal, cacheable: true, how: { fwd: "request" } } : { answer: entry, entry, how };
      };
      if (found?.freshness === "fresh") return serve(found.entry, HIT);
      if (found?.freshness === "stale") {
        void refresh(request, found.entry, fetchAnswer);
        return serve(found.entry, { hit: true, detail: "stale-while-revalidate" });
      }
      if (wanted.onlyIfCached) {
        const refusal = await authorize();
        return refusal ? { ...notCached, answer: refusal } : notCached;
      }
      const ifError = found?.freshness === "ifError" ? found.entry : undefined;
      const serveStale = (entry: Entry) => serve(entry, { fwd: "stale", detail: "stale-if-error" });
      // Legacy is known to be down: a request need not wait to find that out again.
      if (ifError && now() < ifError.retryAt) return serveStale(ifError);

      const fwd = found === undefined ? "uri-miss" : ifError ? "stale" : "request";
      const served = await fetchOnce(request, fetchAnswer, { fwd });
      if (found === undefined || served.entry) return served;
      const { status } = served.answer;
      const { owner } = found.entry;
      // Those who waited for one failed fetch count it once.
      if (request.owner === owner && !served.how.collapsed) applyFailure(entryKey(request, owner), status, found.entry);
      return ifError && isFailure(status) ? serveStale(ifError) : served;
    },
  };
};

const notCached: Served = {
  answer: plainAnswer(504, "No cached answer can be used for this request."),
  cacheable: true,
  how: { detail: "only-if-cached" },
};
