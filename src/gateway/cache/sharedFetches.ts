import { LRUCache } from "lru-cache";
import { judgedStatus } from "../../catalogue/index.ts";
import { type CacheStatus, monotonic } from "../../operation/index.ts";
import { type CacheRequest, entryKey, type Fetch, type NotForCache } from "./cacheRequest.ts";
import { type Entry, entryOf } from "./entry.ts";
import { isFailure, mayStore, storedFor, UNCACHEABLE_FOR } from "./policy.ts";
import type { Served } from "./served.ts";
import { openSingleFlight } from "./singleFlight.ts";
import type { TieredEntries, WriteMark } from "./tieredEntries.ts";

/** The status that stands for no answer: the answer is not for the cache, or does not come in time. */
const NO_ANSWER = 504;

/** The result of a fetch; `late`: it has not come in time. */
export type FetchedOrLate = Served | NotForCache | "late";

/** The status that decides whether an entry stays. */
export const statusOf = (served: FetchedOrLate): number =>
  typeof served === "string" ? NO_ANSWER : judgedStatus(served.answer);

/** True if a fetched answer has an entry: it may be stored, and any caller who may see the entry may get it. */
export const hasEntry = (served: FetchedOrLate): boolean => typeof served === "object" && served.entry !== undefined;

/**
 * One fetch. `isBackground`: it goes on without its client, who has a stale answer, or gets one if the fetch takes too
 * long. `before`: the stored public entry, if there is one.
 */
export type Fetching = {
  request: CacheRequest;
  fetchAnswer: Fetch;
  how: CacheStatus;
  before: Entry | undefined;
  isBackground?: boolean;
};

/** The result of a fetch. `mark`: the writes before it began. */
type FetchResult = { served: Served | NotForCache; groups: readonly string[]; mark: WriteMark };

type FetchesSettings = {
  entries: TieredEntries;
  /** Milliseconds that one fetch may take. */
  timeout: number;
  /** Counts the requests that share a running fetch, and the answers that are not stored. */
  count: (event: "coalesced" | "not_stored") => void;
  now: () => number;
};

/** Fetches and stores answers: concurrent requests for the same answer share one fetch. */
export class SharedFetches {
  readonly #settings: FetchesSettings;
  readonly #running;
  /** The keys whose last answer could not be stored: concurrent requests for them do not wait for each other. */
  readonly #uncacheable = new LRUCache<string, true>({ max: 10_000, ttl: UNCACHEABLE_FOR, perf: monotonic });

  constructor(settings: FetchesSettings) {
    this.#settings = settings;
    this.#running = openSingleFlight<FetchResult>(settings.timeout);
  }

  isRunning(key: string): boolean {
    return this.#running.get(key) !== undefined;
  }

  /**
   * Concurrent requests for the same answer share one fetch, and its failure. Any other answer that cannot be stored is
   * for one caller only. A request that came after a write which the answer does not include is sent again, once.
   */
  async fetch(fetching: Fetching, isAgain = false): Promise<Served | NotForCache> {
    const { request, how } = fetching;
    const { count, entries } = this.#settings;
    const key = entryKey(request, request.owner);
    const running = this.#running.get(key);
    if (this.#uncacheable.has(key) || !mayStore(request.wanted)) return (await this.#fetchAndStore(fetching)).served;
    if (running === undefined) return this.launch(fetching);
    count("coalesced");
    const { here: joined } = entries.mark();
    const { served, groups, mark } = await running;
    if (served === "notForCache") return served;
    if (served.forOne === "limited") return (await this.#fetchAndStore(fetching)).served;
    const { endpoint } = request.cacheKey;
    // The answer may not include a write that came before this request.
    const isOutdated = joined !== mark.here && entries.wasWritten({ groups, endpoint }, mark.here);
    if (isOutdated && isAgain) return this.launch(fetching);
    // A failure is shared by those who ask again: else they would ask a failing legacy one after another.
    const isForOne = isFailure(statusOf(served)) ? served.forOne !== undefined && !isAgain : !hasEntry(served);
    if (isOutdated || isForOne) return this.fetch(fetching, true);
    return { ...served, how: { ...how, collapsed: true } };
  }

  /** Begins a fetch that later requests share. */
  async launch(fetching: Fetching): Promise<Served | NotForCache> {
    const key = entryKey(fetching.request, fetching.request.owner);
    return (await this.#running.launch(key, this.#fetchAndStore(fetching))).served;
  }

  async #fetchAndStore(fetching: Fetching): Promise<FetchResult> {
    const { request, fetchAnswer, how, before, isBackground = false } = fetching;
    const { entries, count, now } = this.#settings;
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
      if (!isFailure(judged)) this.#uncacheable.set(key, true);
      return { served: { answer, forOne, cacheable: true, how }, groups, mark };
    }
    const entry = entryOf(answer, { endpoint, groups, lifetimes, storedAt: now(), owner });
    this.#uncacheable.delete(key);
    const stored = mayStore(wanted) && entries.put(key, entry, mark);
    if (!stored) count("not_stored");
    return { served: { answer: entry, entry, how: { ...how, stored } }, groups, mark };
  }
}
