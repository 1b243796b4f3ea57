import { type CacheKey, type CacheRequest, lookupKeys, type Directives } from "./cacheRequest.ts";
import { type Compression, openCompression } from "./compression.ts";
import { type Entry, type Freshness, freshnessOf, isExpired, withinLifetimes } from "./entry.ts";
import { type InvalidationLog, openInvalidationLog } from "./invalidationLog.ts";
import type { Invalidation, OpenSharedTier, SharedTier } from "./sharedTier.ts";
import { openSingleFlight, type SingleFlight } from "./singleFlight.ts";
import type { Store } from "./store.ts";

/** An entry that was found, and how it may be used now. */
export type FoundEntry = { entry: Entry; freshness: Freshness };

/** Taken before a fetch, so that an answer from before a write is not stored after it. */
export type WriteMark = { here: number; shared: string | undefined };

/** All entries, in memory and in the shared tier behind it. */
export type TieredEntries = {
  /** The fresh entry in memory that answers at once, if there is one. `at`: ms since the epoch. */
  ready(request: CacheRequest, at: number): Entry | undefined;
  /** The most useful entry for a request, from memory or else from the shared tier. */
  find(request: CacheRequest): Promise<FoundEntry | undefined>;
  mark(): WriteMark;
  /** Stores an entry. False where it is too large, or one of its groups was written since the mark. */
  put(key: string, entry: Entry, mark: WriteMark): boolean;
  /** Deletes this entry, for all gateways unless it has an owner. */
  invalidateEntry(key: string, entry: Entry): void;
  /** Deletes the entries of a group or of an owner, in this gateway only. */
  invalidateLocally(group: string): void;
  /** Invalidates here at once; resolves when the other gateways have, or a bounded wait is over. */
  invalidate(invalidation: Invalidation): Promise<void> | undefined;
  /** Whether the shared tier is trusted; `undefined` without one. */
  sharing(): "in step" | "cut off" | undefined;
  close(): Promise<void>;
};

/** What the entries are opened with. */
export type TieredEntriesSettings = {
  store: Store;
  /** The longest time that a fetch can take, in milliseconds. */
  longest: number;
  openTier: OpenSharedTier | undefined;
  /** Called before each invalidation, by whichever gateway. */
  onInvalidation: () => void;
  /** Called for each entry that is invalidated. */
  onInvalidated: () => void;
  onError: (error: unknown) => void;
  now: () => number;
};

const EVERYTHING = "*";
const rank: Record<Freshness, number> = { fresh: 3, stale: 2, ifError: 1, not: 0 };

/** What invalidating in this gateway needs. */
type InvalidatorParts = Pick<TieredEntriesSettings, "store" | "onInvalidation" | "onInvalidated" | "now"> & {
  invalidations: InvalidationLog;
  lookups: SingleFlight<Entry | undefined>;
};

/** Invalidates in this gateway: logs it, and deletes the entries or makes them stale. */
const openInvalidator = ({ store, invalidations, lookups, onInvalidation, onInvalidated, now }: InvalidatorParts) => {
  const invalidateHere = ({ keys = [], groups = [], endpoint, all, soft = false, hold = 0 }: Invalidation): void => {
    onInvalidation();
    lookups.clear();
    const named = endpoint === undefined ? groups : [...groups, `@${endpoint}`];
    // A soft invalidation is logged as well: a fetch that began before it must not be stored as fresh.
    invalidations.write(all ? [EVERYTHING] : named, now() + hold);
    const byGroup = store.inGroups(groups);
    const byEndpoint =
      all || endpoint !== undefined ? store.all().filter(([, entry]) => all || entry.endpoint === endpoint) : [];
    for (const key of keys) store.delete(key);
    for (const [key, entry] of [...byGroup, ...byEndpoint]) {
      onInvalidated();
      if (soft) makeStale(key, entry, hold > 0);
      else store.delete(key);
    }
  };
  /** `isUnconfirmed`: the write may not have happened, so legacy is asked first and the entry is only served where legacy fails. */
  const makeStale = (key: string, entry: Entry, isUnconfirmed: boolean): void => {
    const { staleWhileRevalidate, staleIfError } = entry.lifetimes;
    if (staleIfError === 0 && (staleWhileRevalidate === 0 || isUnconfirmed)) return store.delete(key);
    entry.freshUntil = Math.min(entry.freshUntil, now());
    if (isUnconfirmed) entry.lifetimes = { ...entry.lifetimes, staleWhileRevalidate: 0 };
    delete entry.rendered;
  };
  return invalidateHere;
};

/** What reading from and writing to the shared tier needs. */
type TierParts = Pick<TieredEntriesSettings, "store" | "now"> & {
  tier: SharedTier | undefined;
  invalidations: InvalidationLog;
  compression: Compression;
  wasWritten: (entry: Entry, mark: number) => boolean;
};

/** Reads entries from the shared tier into memory, and writes entries to it. */
const openTierAccess = ({ store, tier, invalidations, compression, wasWritten, now }: TierParts) => {
  const findInTier = async ({ key, lifetimesOf }: CacheKey): Promise<Entry | undefined> => {
    const mark = invalidations.mark();
    const found = await tier?.get(key);
    if (found === undefined || wasWritten(found, mark)) return undefined;
    // Another gateway may be configured with longer lifetimes.
    const entry = withinLifetimes(found, lifetimesOf(found.status));
    if (entry === undefined || isExpired(entry, now())) return undefined;
    if (store.set(key, entry)) compression.offer(key, entry);
    return entry;
  };

  /** Compresses first, which saves memory and time in the tier. The mark keeps out what is invalidated meanwhile. */
  const share = (shared: SharedTier, key: string, entry: Entry, mark: string | undefined): void => {
    const compressing = compression.request(key, entry, "br");
    if (compressing === undefined) shared.set(key, entry, mark);
    else void compressing.then(() => shared.set(key, entry, mark));
  };
  return { findInTier, share };
};

/** Opens the entries over a store, with their invalidation log, their compression and the shared tier. */
export const openTieredEntries = ({
  store,
  longest,
  openTier,
  onInvalidation,
  onInvalidated,
  onError,
  now,
}: TieredEntriesSettings): TieredEntries => {
  const invalidations = openInvalidationLog({ longest: 2 * longest, now });
  const compression = openCompression({ store, onError });
  const lookups = openSingleFlight<Entry | undefined>();

  const invalidateHere = openInvalidator({ store, invalidations, lookups, onInvalidation, onInvalidated, now });
  const tier = openTier?.({ onInvalidation: invalidateHere, onLost: () => invalidateHere({ all: true }) });

  /** Tells the other gateways. */
  const announce = (invalidation: Invalidation): Promise<void> | undefined => tier?.invalidate(invalidation);

  const wasWritten = ({ groups, endpoint }: Entry, mark: number): boolean =>
    invalidations.written([...groups, `@${endpoint}`, EVERYTHING], mark);

  /** While invalidations of other gateways may be missed, a public entry is only served where legacy fails. */
  const freshnessNow = (entry: Entry, wanted: Directives, at: number): Freshness => {
    const freshness = freshnessOf(entry, at, wanted);
    if (tier === undefined || freshness === "not" || tier.trusted()) return freshness;
    return entry.owner === undefined ? "ifError" : "not";
  };

  /** Callers with a key may use a public 200. A public 404 is not reused for them: the resource may be their own private one. */
  const mayUse = ({ owner }: CacheRequest, entry: Entry): boolean =>
    owner === undefined || entry.owner !== undefined || entry.status === 200;

  const better = (
    best: FoundEntry | undefined,
    request: CacheRequest,
    entry: Entry | undefined,
    at: number,
  ): FoundEntry | undefined => {
    if (entry === undefined || !mayUse(request, entry)) return best;
    const freshness = freshnessNow(entry, request.wanted, at);
    return best && rank[best.freshness] >= rank[freshness] ? best : { entry, freshness };
  };

  const findInMemory = (request: CacheRequest, at: number): FoundEntry | undefined => {
    let best: FoundEntry | undefined;
    for (const key of lookupKeys(request)) {
      best = better(best, request, store.get(key), at);
      if (best?.freshness === "fresh") break;
    }
    return best;
  };

  const { findInTier, share } = openTierAccess({ store, tier, invalidations, compression, wasWritten, now });

  return {
    ready(request, at) {
      const { cacheKey, owner, wanted } = request;
      if (owner !== undefined) {
        const found = findInMemory(request, at);
        return found?.freshness === "fresh" ? found.entry : undefined;
      }
      // The most frequent case: one lookup, and no allocation.
      const entry = store.get(cacheKey.key);
      return entry !== undefined && freshnessNow(entry, wanted, at) === "fresh" ? entry : undefined;
    },
    async find(request) {
      const { owner, cacheKey } = request;
      const found = findInMemory(request, now());
      // The tier has public entries only.
      if (found?.freshness === "fresh" || !tier?.trusted() || (owner !== undefined && cacheKey.personal)) return found;
      const { key } = cacheKey;
      return better(found, request, await (lookups.get(key) ?? lookups.launch(key, findInTier(cacheKey))), now());
    },
    mark: () => ({ here: invalidations.mark(), shared: tier?.mark() }),
    put(key, entry, mark) {
      if (wasWritten(entry, mark.here)) return false;
      const previous = store.get(key);
      // The same bytes again, as after most refreshes: their codings are still right.
      if (previous?.tag === entry.tag && entry.tag !== "") entry.coded = previous.coded;
      if (!store.set(key, entry)) return false;
      compression.offer(key, entry);
      if (tier && entry.owner === undefined) share(tier, key, entry, mark.shared);
      return true;
    },
    invalidateEntry(key, { owner }) {
      store.delete(key);
      if (owner === undefined) void announce({ keys: [key] });
    },
    invalidateLocally(group) {
      for (const [key] of store.inGroups([group])) store.delete(key);
    },
    invalidate(invalidation) {
      invalidateHere(invalidation);
      return announce(invalidation);
    },
    sharing: () => tier && (tier.trusted() ? "in step" : "cut off"),
    close: async () => tier?.close(),
  };
};
