import { type CacheKey, type CacheRequest, entryKey } from "./cacheRequest.ts";
import { openCompression } from "./compression.ts";
import type { Entry } from "./entry.ts";
import { openInvalidationLog } from "./invalidationLog.ts";
import {
  type Freshness,
  freshnessOf,
  isExpired,
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
type FoundEntry = { entry: Entry; freshness: Freshness };

/** Taken before a fetch, so that an answer from before a write is not stored after it. */
type WriteMark = { here: number; shared: string | undefined };

/** All entries, in memory and in the shared tier behind it. */
export type TieredEntries = {
  /** The most useful entry in memory for a request: the owner's own, or the public one. `at`: ms since the epoch. */
  lookUp: (request: CacheRequest, at: number) => FoundEntry | undefined;
  /** The same with what the shared tier has, where that is newer; else `undefined`. */
  lookUpShared(request: CacheRequest): Promise<FoundEntry | undefined>;
  mark(): WriteMark;
  /** Stores an entry. False where it is too large, or one of its groups was written since the mark. */
  put(key: string, entry: Entry, mark: WriteMark): boolean;
  /** Deletes this entry, for all gateways unless it has an owner. */
  invalidateEntry(key: string, entry: Entry): void;
  /** Deletes the entries of a group or of an owner, in this gateway only. */
  invalidateLocally: (group: string) => void;
  /** Invalidates here at once. True when the other gateways have, false when a bounded wait is over; `undefined` without others. */
  invalidate: (invalidation: Invalidation) => Promise<boolean> | undefined;
  /** Whether the shared tier is trusted; `undefined` without one. */
  sharing: () => "in step" | "cut off" | undefined;
  close: () => Promise<void>;
};

/** What the entries are opened with. */
type TieredEntriesSettings = {
  store: Store;
  openTier: OpenSharedTier | undefined;
  /** Called before each invalidation, by whichever gateway. */
  onInvalidation: () => void;
  /** Called for each entry that is invalidated. */
  onInvalidated: () => void;
  onError: (error: unknown) => void;
  now: () => number;
};

const EVERYTHING = "*";

/** Opens the entries over a store, with their invalidation log, their compression and the shared tier. */
export const openTieredEntries = ({
  store,
  openTier,
  onInvalidation,
  onInvalidated,
  onError,
  now,
}: TieredEntriesSettings): TieredEntries => {
  const invalidations = openInvalidationLog({ now });
  const compression = openCompression({ store, onError });
  const lookups = openSingleFlight<Entry | undefined>();

  /** In this gateway. */
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
      if (!soft || !makeStale(entry, now(), hold > 0)) store.delete(key);
    }
  };
  const tier = openTier?.({ onInvalidation: invalidateHere, onLost: () => invalidateHere({ all: true }) });

  /** Tells the other gateways. */
  const announce = (invalidation: Invalidation): Promise<boolean> | undefined => tier?.invalidate(invalidation);

  const wasWritten = ({ groups, endpoint }: Entry, mark: number): boolean =>
    invalidations.written([...groups, `@${endpoint}`, EVERYTHING], mark);

  const found = (request: CacheRequest, entry: Entry | undefined, at: number): FoundEntry | undefined =>
    entry !== undefined && mayUse(request, entry)
      ? { entry, freshness: freshnessOf(entry, at, request.wanted, tier?.trusted()) }
      : undefined;

  /** `shared`: the public entry. */
  const lookUp = (request: CacheRequest, at: number, shared?: Entry): FoundEntry | undefined => {
    const { cacheKey, owner } = request;
    const own = owner === undefined ? undefined : found(request, store.get(entryKey(request, owner)), at);
    if (own?.freshness === "fresh" || !mayUsePublic(request)) return own;
    const common = found(request, shared ?? store.get(cacheKey.key), at);
    return own !== undefined && (common === undefined || common.freshness === "not") ? own : common;
  };

  /** Takes an entry into memory that is newer in the tier. */
  const findInTier = async ({ key, lifetimesOf }: CacheKey): Promise<Entry | undefined> => {
    const mark = invalidations.mark();
    const theirs = await tier?.get(key);
    if (theirs === undefined || wasWritten(theirs, mark)) return undefined;
    if (theirs.storedAt <= (store.get(key)?.storedAt ?? -Infinity)) return undefined;
    // Another gateway may be configured with longer lifetimes.
    const entry = withinLifetimes(theirs, lifetimesOf(theirs.status));
    if (entry === undefined || isExpired(entry, now())) return undefined;
    if (store.set(key, entry)) compression.offer(key, entry);
    return entry;
  };

  /** Compresses first, which saves memory and time in the tier. The mark keeps out what is invalidated meanwhile. */
  const share = async (shared: SharedTier, key: string, entry: Entry, mark: string | undefined): Promise<void> => {
    await compression.request(key, entry, "br");
    shared.set(key, entry, mark);
  };

  return {
    lookUp,
    async lookUpShared(request) {
      if (!tier?.trusted() || !mayUsePublic(request)) return undefined;
      const { key } = request.cacheKey;
      const entry = await (lookups.get(key) ?? lookups.launch(key, findInTier(request.cacheKey)));
      return entry && lookUp(request, now(), entry);
    },
    mark: () => ({ here: invalidations.mark(), shared: tier?.mark() }),
    put(key, entry, mark) {
      if (wasWritten(entry, mark.here)) return false;
      const previous = store.get(key);
      // The same bytes again, as after most refreshes: their codings are still right.
      if (previous?.tag === entry.tag && entry.tag !== "") entry.coded = previous.coded;
      if (!store.set(key, entry)) return false;
      compression.offer(key, entry);
      if (tier && isShared(entry)) void share(tier, key, entry, mark.shared);
      return true;
    },
    invalidateEntry(key, entry) {
      store.delete(key);
      if (isShared(entry)) void announce({ keys: [key] });
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
