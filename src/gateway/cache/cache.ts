import { type CacheStatus, withTimeout } from "../../operation/index.ts";
import { type CacheRequest, entryKey, type Fetch, type Fetched, type NotForCache } from "./cacheRequest.ts";
import type { Entry } from "./entry.ts";
import { backOff, isFailure, MAX_WAIT_BESIDE_STALE } from "./policy.ts";
import { type Answer, plainAnswer } from "../../catalogue/index.ts";
import { HIT, type Served } from "./served.ts";
import { type FetchedOrLate, type Fetching, hasEntry, SharedFetches, statusOf } from "./sharedFetches.ts";
import { type FoundEntry, TieredEntries, type TieredEntriesSettings } from "./tieredEntries.ts";

type CacheEvent = "refreshed" | "refresh_failed" | "coalesced" | "dropped" | "not_stored";

type CacheSettings = Omit<TieredEntriesSettings, "onInvalidated"> & {
  count: (event: CacheEvent) => void;
  /** True while legacy fails. */
  isFailing: () => boolean;
};

/** Called before an entry is served; the answer that it returns, if any, is served instead. */
type Authorize = () => Promise<Answer | undefined>;

/** The cache of answers: fresh and stale entries, one fetch for concurrent misses, invalidation by writes. */
export class Cache extends TieredEntries {
  readonly #settings: CacheSettings;
  readonly #fetches;
  /** The number of the current round. It goes up when the backend recovers, which ends all pauses. */
  #round = 0;

  constructor(settings: CacheSettings) {
    const { timeout, count, now } = settings;
    super({ ...settings, onInvalidated: () => count("dropped") });
    this.#settings = settings;
    this.#fetches = new SharedFetches({ entries: this, timeout, count, now });
  }

  /** Answers from an entry or by a fetch. */
  async answer<F extends Fetched | NotForCache>(
    request: CacheRequest,
    fetchAnswer: Fetch<F>,
    authorize: Authorize,
  ): Promise<Served | Extract<F, NotForCache>> {
    let found = this.lookUp(request, this.#settings.now());
    if (found?.freshness !== "fresh") found = (await this.lookUpInTier(request)) ?? found;
    if (found?.freshness === "fresh") return serve(found.entry, HIT, authorize);
    if (found?.freshness === "stale") {
      this.#refresh(request, found.entry, fetchAnswer).catch(this.#settings.onError);
      return serve(found.entry, { hit: true, detail: "stale-while-revalidate" }, authorize);
    }
    if (request.wanted.onlyIfCached) {
      const refusal = await authorize();
      return refusal ? { ...notCached, answer: refusal } : notCached;
    }
    // If this request joins a running fetch, that fetch is of the same dialect, so its outcome is of the same kind.
    return this.#fetch(request, fetchAnswer, found, authorize) as Promise<Served | Extract<F, NotForCache>>;
  }

  /** Fetches the answer. The entry that was found may not be served, unless legacy fails. */
  async #fetch(
    request: CacheRequest,
    fetchAnswer: Fetch,
    found: FoundEntry | undefined,
    authorize: Authorize,
  ): Promise<Served | NotForCache> {
    const ifError = found?.freshness === "ifError" ? found.entry : undefined;
    const serveStale = (entry: Entry) => serve(entry, { fwd: "stale", detail: "stale-if-error" }, authorize);
    // Legacy is known to be down: this request waits neither to find that out again, nor for a fetch from before.
    const isKnown = (entry: Entry) =>
      this.#isPaused(entry) || (this.#settings.isFailing() && this.#fetches.isRunning(request.cacheKey.key));
    if (ifError && isKnown(ifError)) return serveStale(ifError);

    const fwd = found === undefined ? "uri-miss" : ifError ? "stale" : "request";
    const before = found?.entry.owner === undefined ? found?.entry : undefined;
    const fetch = this.#fetches.fetch({
      request,
      fetchAnswer,
      how: { fwd },
      before,
      isBackground: ifError !== undefined,
    });
    // If the caller gets the stale answer, the fetch goes on, and no client waits for it.
    const served = ifError ? await withTimeout(fetch, MAX_WAIT_BESIDE_STALE) : await fetch;
    if (hasEntry(served) || found === undefined) return fetch;
    if (isInconclusive(served)) return ifError ? serveStale(ifError) : fetch;
    const status = statusOf(served);
    // A failure of legacy holds for all callers; any other answer to an owner holds for that owner only.
    if (isFailure(status) || request.owner === found.entry.owner)
      this.#applyFailure(entryKey(request, found.entry.owner), status, found.entry);
    return ifError && isFailure(status) ? serveStale(ifError) : fetch;
  }

  /** Fetches an entry again while it is still being served. */
  async #refresh(request: CacheRequest, entry: Entry, fetchAnswer: Fetch): Promise<void> {
    const { count, onError } = this.#settings;
    const { owner } = entry;
    const key = entryKey(request, owner);
    if (this.#isPaused(entry) || this.#fetches.isRunning(key)) return;
    const ofOwner = { ...request, owner, wanted: {} };
    const how: CacheStatus = { fwd: "stale" };
    const fetching: Fetching = { request: ofOwner, fetchAnswer, how, before: entry, isBackground: true };
    let status = 500;
    try {
      const served = await this.#fetches.launch(fetching);
      if (hasEntry(served)) return count("refreshed");
      if (isInconclusive(served)) return;
      status = statusOf(served);
    } catch (error) {
      onError(error);
    }
    this.#applyFailure(key, status, entry);
    count("refresh_failed");
  }

  #isPaused({ pausedIn, retryAt }: Entry): boolean {
    return pausedIn === this.#round && this.#settings.now() < retryAt;
  }

  /** Waits longer before the next refresh after a failure. Any other answer means that the entry is no longer right. */
  #applyFailure(key: string, status: number, entry: Entry): void {
    if (!isFailure(status)) return this.invalidateEntry(key, entry);
    // Several requests may have waited for the fetch that failed: it counts once.
    if (this.#isPaused(entry)) return;
    entry.failures = entry.pausedIn === this.#round ? entry.failures + 1 : 1;
    entry.pausedIn = this.#round;
    entry.retryAt = this.#settings.now() + backOff(entry.failures);
  }

  /** The backend answers again: the next request for an entry refreshes it at once. */
  endPauses(): void {
    this.#round++;
  }
}

/** Serves an entry, unless its caller is refused. */
const serve = async (entry: Entry, how: CacheStatus, authorize: Authorize): Promise<Served> => {
  const refusal = await authorize();
  return refusal ? { answer: refusal, cacheable: true, how: { fwd: "request" } } : { answer: entry, entry, how };
};

/** True if an answer does not show the state of the backend: it then leaves the time of the next refresh as it is. */
const isInconclusive = (served: FetchedOrLate): boolean =>
  typeof served === "object" && (served.forOne === "unasked" || served.forOne === "limited");

const notCached: Served = {
  answer: plainAnswer(504, "No cached answer can be used for this request."),
  cacheable: true,
  how: { detail: "only-if-cached" },
};
