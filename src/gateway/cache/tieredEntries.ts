import { judgedStatus } from "../../catalogue/index.ts";
import { type CacheKey, type CacheRequest, entryKey } from "./cacheRequest.ts";
import { openCompression } from "./compression.ts";
import type { Entry } from "./entry.ts";
import { openInvalidationLog } from "./invalidationLog.ts";
import {
  type Freshness,
  freshnessOf,
  isBetter,
  expiryOf,
  isListLeft,
  isShared,
  makeStale,
  mayUse,
  mayUsePublic,
  withinLifetimes,
} from "./policy.ts";
import type { Invalidation, OpenSharedTier, SharedTier } from "./sharedTier.ts";
import { openSingleFlight } from "./singleFlight.ts";
import type { Store } from "./store.ts";

/** An entry that was found, and how it may be used now. */
export type FoundEntry = { entry: Entry; freshness: Freshness };

/** A mark that is taken before a fetch, so that an answer from before a write is not stored after it. */
export type WriteMark = { here: number; shared: string | undefined };

const EVERYTHING = "*";

/** Opens all entries: those in memory, and those in the shared tier behind it. */
export const openTieredEntries = ({
  store,
  openTier,
  timeout,
  onInvalidated,
  onError,
  now,
}: {
  store: Store;
  openTier: OpenSharedTier | undefined;
  /** Milliseconds that a look-up in the shared tier may take. */
  timeout: number;
  /** Called for each entry that is invalidated. */
  onInvalidated: () => void;
  onError: (error: unknown) => void;
  now: () => number;
}) => {
  const invalidations = openInvalidationLog({ now });
  const compression = openCompression(store, onError);
  const lookups = openSingleFlight<Entry | undefined>(timeout);

  /** Invalidates in this gateway only. */
  const invalidateHere = (invalidation: Invalidation): void => {
    const { keys = [], groups = [], endpoint, all, soft = false, hold = 0 } = invalidation;
    lookups.clear();
    const named = endpoint === undefined ? groups : [...groups, `@${endpoint}`];
    // A soft invalidation is logged as well: a fetch that began before it must not be stored as fresh.
    invalidations.write(all ? [EVERYTHING] : named, hold && now() + hold);
    const byGroup = store.inGroups(groups);
    const byEndpoint =
      all || endpoint !== undefined ? store.all().filter(([, entry]) => all || entry.endpoint === endpoint) : [];
    for (const key of keys) store.delete(key);
    for (const [key, entry] of [...byGroup, ...byEndpoint]) {
      onInvalidated();
      const isLeft = soft || isListLeft(entry, invalidation);
      if (!isLeft || !makeStale(entry, now(), !soft || hold > 0)) store.delete(key);
    }
  };
  /** The time at which an invalidation may have been missed, most recently. */
  let doubtedAt: string | undefined;
  /**
   * From now on all entries are served only if legacy fails, as in a gap of the tier. Running fetches store nothing.
   */
  const doubtAll = (): void => {
    doubtedAt = new Date().toISOString();
    lookups.clear();
    invalidations.write([EVERYTHING]);
    for (const [, entry] of store.all()) entry.isDoubtful = true;
  };
  const tier = openTier?.({ onInvalidation: invalidateHere, onLost: doubtAll });

  /** True if a member of these groups was, or may have been, written since the mark. */
  const wasWritten = ({ groups, endpoint }: Pick<Entry, "groups" | "endpoint">, mark: number): boolean =>
    invalidations.written([...groups, `@${endpoint}`, EVERYTHING], mark);

  const withFreshness = (request: CacheRequest, entry: Entry | undefined, at: number): FoundEntry | undefined =>
    entry !== undefined && mayUse(request, entry)
      ? { entry, freshness: freshnessOf(entry, at, request.wanted, tier?.trusted()) }
      : undefined;

  /**
   * The most useful entry in memory for a request: the owner's or the public entry. `at`: on the clock of the entries.
   * `shared`: the public entry, if it was found in the shared tier.
   */
  const lookUp = (request: CacheRequest, at: number, shared?: Entry): FoundEntry | undefined => {
    const { cacheKey, owner } = request;
    const own = owner === undefined ? undefined : withFreshness(request, store.get(entryKey(request, owner)), at);
    if (own?.freshness === "fresh" || !mayUsePublic(request)) return own;
    const common = withFreshness(request, shared ?? store.get(cacheKey.key), at);
    return own !== undefined && (common === undefined || common.freshness === "not") ? own : common;
  };

  /** Takes an entry from the tier into memory if it is better than the entry there. */
  const findInTier = async ({ key, lifetimesOf }: CacheKey): Promise<Entry | undefined> => {
    const mark = invalidations.mark();
    const theirs = await tier?.get(key);
    if (theirs === undefined || wasWritten(theirs, mark)) return undefined;
    if (!isBetter(theirs, store.get(key))) return undefined;
    // Another gateway may be configured with longer lifetimes.
    const entry = withinLifetimes(theirs, lifetimesOf(judgedStatus(theirs)));
    if (entry === undefined || now() >= expiryOf(entry)) return undefined;
    if (store.set(key, entry)) compression.offer(key, entry);
    return entry;
  };

  /** Compresses first, which saves memory and time in the tier. An entry invalidated since the mark is not stored. */
  const share = async (shared: SharedTier, key: string, entry: Entry, mark: string | undefined): Promise<void> => {
    await compression.request(key, entry, "br");
    shared.set(key, entry, mark);
  };

  return {
    lookUp,
    wasWritten,
    /** Looks up with the entry of the shared tier, if that is better than the entry in memory; else `undefined`. */
    async lookUpShared(request: CacheRequest): Promise<FoundEntry | undefined> {
      if (!tier?.trusted() || !mayUsePublic(request)) return undefined;
      const { key } = request.cacheKey;
      const entry = await (lookups.get(key) ?? lookups.launch(key, findInTier(request.cacheKey)));
      return entry && lookUp(request, now(), entry);
    },
    mark: (): WriteMark => ({ here: invalidations.mark(), shared: tier?.mark() }),
    /** Stores an entry. False if it is too large, or if one of its groups was written since the mark. */
    put(key: string, entry: Entry, mark: WriteMark): boolean {
      if (wasWritten(entry, mark.here)) return false;
      const previous = store.get(key);
      // Most refreshes bring the same bytes again: their codings are still right.
      if (previous?.tag === entry.tag) entry.coded = previous.coded;
      if (!store.set(key, entry)) return false;
      compression.offer(key, entry);
      if (tier && isShared(entry)) share(tier, key, entry, mark.shared).catch(onError);
      return true;
    },
    /** Deletes this entry, in all gateways unless it has an owner. */
    invalidateEntry(key: string, entry: Entry): void {
      store.delete(key);
      if (isShared(entry)) tier?.invalidate({ keys: [key] }).catch(onError);
    },
    /** Deletes the entries of a group or of an owner, in this gateway only. */
    invalidateLocally: (group: string): void => {
      for (const [key] of store.inGroups([group])) store.delete(key);
    },
    /**
     * Invalidates here at once. True when the other gateways have done so too, false after a bounded wait; `undefined`
     * if there are no others.
     */
    invalidate: (invalidation: Invalidation): Promise<boolean> | undefined => {
      invalidateHere(invalidation);
      return tier?.invalidate(invalidation);
    },
    /**
     * The number of entries that are served only if legacy fails, because an invalidation may have been missed, and
     * since when. `undefined` if there are no such entries.
     */
    doubtful(): { entries: number; since: string } | undefined {
      const left = doubtedAt === undefined ? [] : store.all().filter(([, { isDoubtful }]) => isDoubtful === true);
      // All doubtful entries have been fetched again, or are gone.
      if (left.length === 0) doubtedAt = undefined;
      return doubtedAt === undefined ? undefined : { entries: left.length, since: doubtedAt };
    },
    /** Says if the shared tier is trusted; `undefined` without a shared tier. */
    sharing: (): "in step" | "cut off" | undefined => tier && (tier.trusted() ? "in step" : "cut off"),
    close: async (): Promise<void> => tier?.close(),
  };
};
