import { type CacheStatus, monotonic, withTimeout } from "../../operation/index.ts";
import { LRUCache } from "lru-cache";
import { type CacheRequest, entryKey, type Fetch, type Fetched, type NotForCache } from "./cacheRequest.ts";
import { type Entry, entryOf } from "./entry.ts";
import { backOff, isFailure, MAX_WAIT_BESIDE_STALE, mayStore, storedFor, UNCACHEABLE_FOR } from "./policy.ts";
import type { Store } from "./store.ts";
import { type Answer, judgedStatus, plainAnswer } from "../../catalogue/index.ts";
import { HIT, type Served } from "./served.ts";
import type { OpenSharedTier } from "./sharedTier.ts";
import { openSingleFlight } from "./singleFlight.ts";
import { openTieredEntries, type WriteMark } from "./tieredEntries.ts";

/** The cache of answers: fresh and stale entries, one fetch for concurrent misses, invalidation by writes. */
export type Cache = ReturnType<typeof openCache>;

type CacheEvent = "refreshed" | "refresh_failed" | "coalesced" | "dropped" | "not_stored";

type CacheSettings = {
  store: Store;
  openTier?: OpenSharedTier | undefined;
  /** Milliseconds that one fetch may take. */
  timeout: number;
  count: (event: CacheEvent) => void;
  /** Called with failures in the background, for which no client waits. */
  onError: (error: unknown) => void;
  now?: () => number;
};

/** The status that stands for no answer: the answer is not for the cache, or does not come in time. */
const NO_ANSWER = 504;

/**
 * One fetch. `isBackground`: it goes on without its client, who has a stale answer, or gets one if the fetch takes too
 * long. `before`: the stored public entry, if there is one.
 */
type Fetching = {
  request: CacheRequest;
  fetchAnswer: Fetch;
  how: CacheStatus;
  before: Entry | undefined;
  isBackground?: boolean;
};

/** The result of a fetch. `mark`: the writes before it began. */
type FetchResult = { served: Served | NotForCache; groups: readonly string[]; mark: WriteMark };

/** Opens the cache over a store and, if `openTier` is given, a shared tier. */
export const openCache = ({ store, openTier, timeout, count, onError, now = monotonic.now }: CacheSettings) => {
  const fetches = openSingleFlight<FetchResult>(timeout);
  const uncacheable = new LRUCache<string, true>({ max: 10_000, ttl: UNCACHEABLE_FOR, perf: monotonic });
  const entries = openTieredEntries({ store, openTier, timeout, now, onInvalidated: () => count("dropped"), onError });

  const fetchAndStore = async (fetching: Fetching): Promise<FetchResult> => {
    const { request, fetchAnswer, how, before, isBackground = false } = fetching;
    const { owner, wanted, cacheKey } = request;
    const { endpoint, lifetimesOf } = cacheKey;
    const key = entryKey(request, owner);
    const mark = entries.mark();
    const fetched = await fetchAnswer(owner, isBackground, before);
    if (fetched === "notForCache") return { served: fetched, groups: [], mark };
    const { answer, groups, unfinishedUntil = 0, freshAtMost, forOne } = fetched;
    const judged = judgedStatus(answer);
    const lifetimes = storedFor(lifetimesOf(judged, monotonic.toStored(now()) < unfinishedUntil), owner, freshAtMost);
    if (lifetimes === undefined) {
      if (!isFailure(judged)) uncacheable.set(key, true);
      return { served: { answer, forOne, cacheable: true, how }, groups, mark };
    }
    const entry = entryOf(answer, { endpoint, groups, lifetimes, storedAt: now(), owner });
    uncacheable.delete(key);
    const stored = mayStore(wanted) && entries.put(key, entry, mark);
    if (!stored) count("not_stored");
    return { served: { answer: entry, entry, how: { ...how, stored } }, groups, mark };
  };

  const launch = (fetching: Fetching): Promise<FetchResult> =>
    fetches.launch(entryKey(fetching.request, fetching.request.owner), fetchAndStore(fetching));

  /**
   * Concurrent requests for the same answer share one fetch, and its failure. Any other answer that cannot be stored is
   * for one caller only. A request that came after a write which the answer does not include is sent again, once.
   */
  const fetchOnce = async (fetching: Fetching, isAgain = false): Promise<Served | NotForCache> => {
    const { request, how } = fetching;
    const key = entryKey(request, request.owner);
    const running = fetches.get(key);
    if (uncacheable.has(key) || !mayStore(request.wanted)) return (await fetchAndStore(fetching)).served;
    if (running === undefined) return (await launch(fetching)).served;
    count("coalesced");
    const { here: joined } = entries.mark();
    const { served, groups, mark } = await running;
    if (served === "notForCache") return served;
    const { endpoint } = request.cacheKey;
    if (served.forOne === "limited") return (await fetchAndStore(fetching)).served;
    // The answer may not include a write that came before this request.
    const isOutdated = joined !== mark.here && entries.wasWritten({ groups, endpoint }, mark.here);
    if (isOutdated && isAgain) return (await launch(fetching)).served;
    const failed = isFailure(statusOf(served));
    // A failure is shared by those who ask again: else they would ask a failing legacy one after another.
    const isForOne = !isStored(served) && (failed ? served.forOne !== undefined && !isAgain : true);
    if (isOutdated || isForOne) return fetchOnce(fetching, true);
    return { ...served, how: { ...how, collapsed: true } };
  };

  /** Fetches an entry again while it is still being served. */
  const refresh = async (request: CacheRequest, entry: Entry, fetchAnswer: Fetch): Promise<void> => {
    const { owner } = entry;
    const key = entryKey(request, owner);
    if (isPaused(entry) || fetches.get(key)) return;
    let status = 500;
    try {
      const ofOwner = { ...request, owner, wanted: {} };
      const { served } = await launch({
        request: ofOwner,
        fetchAnswer,
        how: { fwd: "stale" },
        before: entry,
        isBackground: true,
      });
      if (isStored(served)) return count("refreshed");
      if (isInconclusive(served)) return;
      status = statusOf(served);
    } catch (error) {
      onError(error);
    }
    applyFailure(key, status, entry);
    count("refresh_failed");
  };

  /** The number of the current round. It goes up when the backend recovers, which ends all pauses. */
  let round = 0;
  const isPaused = ({ pausedIn, retryAt }: Entry): boolean => pausedIn === round && now() < retryAt;

  /** Waits longer before the next refresh after a failure. Any other answer means that the entry is no longer right. */
  const applyFailure = (key: string, status: number, entry: Entry): void => {
    if (!isFailure(status)) return entries.invalidateEntry(key, entry);
    // Several requests may have waited for the fetch that failed: it counts once.
    if (isPaused(entry)) return;
    entry.failures = entry.pausedIn === round ? entry.failures + 1 : 1;
    entry.pausedIn = round;
    entry.retryAt = now() + backOff(entry.failures);
  };

  return {
    ...entries,
    size: store.size,
    fits: store.fits,
    /** The backend answers again: the next request for an entry refreshes it at once. */
    endPauses: (): void => void round++,
    /**
     * Answers from an entry or by a fetch. `authorize` is called before an entry is served; the answer that it returns,
     * if any, is served instead.
     */
    async answer<F extends Fetched | NotForCache>(
      request: CacheRequest,
      fetchAnswer: Fetch<F>,
      authorize: () => Promise<Answer | undefined>,
    ): Promise<Served | Extract<F, NotForCache>> {
      const { wanted } = request;
      let found = entries.lookUp(request, now());
      if (found?.freshness !== "fresh") found = (await entries.lookUpShared(request)) ?? found;
      const serve = async (entry: Entry, how: CacheStatus): Promise<Served> => {
        const refusal = await authorize();
        return refusal ? { answer: refusal, cacheable: true, how: { fwd: "request" } } : { answer: entry, entry, how };
      };
      if (found?.freshness === "fresh") return serve(found.entry, HIT);
      if (found?.freshness === "stale") {
        refresh(request, found.entry, fetchAnswer).catch(onError);
        return serve(found.entry, { hit: true, detail: "stale-while-revalidate" });
      }
      if (wanted.onlyIfCached) {
        const refusal = await authorize();
        return refusal ? { ...notCached, answer: refusal } : notCached;
      }
      const ifError = found?.freshness === "ifError" ? found.entry : undefined;
      const serveStale = (entry: Entry) => serve(entry, { fwd: "stale", detail: "stale-if-error" });
      // Legacy is known to be down: this request does not wait to find that out again.
      if (ifError && isPaused(ifError)) return serveStale(ifError);

      const fwd = found === undefined ? "uri-miss" : ifError ? "stale" : "request";
      const before = found?.entry.owner === undefined ? found?.entry : undefined;
      const fetching: Fetching = { request, fetchAnswer, how: { fwd }, before, isBackground: ifError !== undefined };
      // If this request joins a running fetch, that fetch is of the same dialect, so its outcome is of the same kind.
      const fetch = fetchOnce(fetching) as Promise<Served | Extract<F, NotForCache>>;
      // If the caller gets the stale answer, the fetch goes on, and no client waits for it.
      const served = ifError ? await withTimeout(fetch, MAX_WAIT_BESIDE_STALE) : await fetch;
      if (isStored(served) || found === undefined) return fetch;
      if (isInconclusive(served)) return ifError ? serveStale(ifError) : fetch;
      const status = statusOf(served);
      // A failure of legacy holds for all callers; any other answer to an owner holds for that owner only.
      if (isFailure(status) || request.owner === found.entry.owner)
        applyFailure(entryKey(request, found.entry.owner), status, found.entry);
      return ifError && isFailure(status) ? serveStale(ifError) : fetch;
    },
  };
};

type AwaitedServed = Served | NotForCache | "late";

const isStored = (served: AwaitedServed): boolean => typeof served === "object" && served.entry !== undefined;

/** The status that decides whether an entry stays. */
const statusOf = (served: AwaitedServed): number =>
  typeof served === "string" ? NO_ANSWER : judgedStatus(served.answer);

/** True if an answer does not show the state of the backend: it then leaves the time of the next refresh as it is. */
const isInconclusive = (served: AwaitedServed): boolean =>
  typeof served === "object" && (served.forOne === "unasked" || served.forOne === "limited");

const notCached: Served = {
  answer: plainAnswer(504, "No cached answer can be used for this request."),
  cacheable: true,
  how: { detail: "only-if-cached" },
};
