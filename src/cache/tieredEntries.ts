import type { Directives } from "./directives.ts";
import { type Entry, isExpired, freshnessOf, type Freshness, withinLifetimes } from "./entry.ts";
import { openSingleFlight } from "./singleFlight.ts";
import { openCompression } from "./compression.ts";
import { openInvalidationLog } from "./invalidationLog.ts";
import { type CacheRequest, lookupKeys, type CacheKey } from "./cacheRequest.ts";
import type { Invalidation, OpenSharedTier, SharedTier } from "./sharedTier.ts";
import type { Store } from "./store.ts";

/** An entry, and what it is good for now. */
export type FoundEntry = { entry: Entry; verdict: Freshness };

/** Taken before legacy is asked, so that an answer older than a write is not kept. */
export type WriteMark = { here: number; shared: string | undefined };

/** All that is kept, in memory and in the shared tier behind it. */
export type TieredEntries = {
  /** What answers at once. */
  ready(asking: CacheRequest, at: number): Entry | undefined;
  find(asking: CacheRequest): Promise<FoundEntry | undefined>;
  get(key: string): Entry | undefined;
  mark(): WriteMark;
  /** False where it is too large, or something it is about was written since the mark. */
  keep(key: string, entry: Entry, mark: WriteMark): boolean;
  /** This entry is no longer so, whoever keeps it. */
  remove(key: string, entry: Entry): void;
  /** Only here: entries of this group, or of this owner. */
  forget(group: string): void;
  drop(drop: Invalidation): Promise<void> | undefined;
  sharing(): "in step" | "cut off" | undefined;
  close(): Promise<void>;
};

export type TieredEntriesSettings = {
  store: Store;
  /** No read takes longer, in milliseconds. */
  longest: number;
  openTier: OpenSharedTier | undefined;
  /** Told of every drop, before anything is dropped. */
  onDrop: () => void;
  onDropped: (endpoint: string) => void;
  onError: (error: unknown) => void;
  now: () => number;
};

const EVERYTHING = "*";
const worth: Record<Freshness, number> = { fresh: 3, stale: 2, ifError: 1, not: 0 };

export const openTieredEntries = ({
  store,
  longest,
  openTier,
  onDrop,
  onDropped,
  onError,
  now,
}: TieredEntriesSettings): TieredEntries => {
  const invalidations = openInvalidationLog({ longest: 2 * longest, now });
  const compression = openCompression({ store, onError });
  const lookups = openSingleFlight<Entry | undefined>();

  const dropHere = ({ keys = [], groups = [], endpoint, all, soft = false, hold = 0 }: Invalidation): void => {
    onDrop();
    lookups.clear();
    const named = endpoint === undefined ? groups : [...groups, `@${endpoint}`];
    // Softly as well: what was asked before must not come back as fresh.
    invalidations.write(all ? [EVERYTHING] : named, now() + hold);
    const byGroup = store.inGroups(groups);
    const byEndpoint =
      all || endpoint !== undefined ? store.all().filter(([, entry]) => all || entry.endpoint === endpoint) : [];
    for (const key of keys) store.delete(key);
    for (const [key, entry] of [...byGroup, ...byEndpoint]) {
      onDropped(entry.endpoint);
      if (soft) makeStale(key, entry, hold > 0);
      else store.delete(key);
    }
  };
  /** `isUnconfirmed`: what it is about may have been written, so legacy is asked first and the entry only stands in where it fails. */
  const makeStale = (key: string, entry: Entry, isUnconfirmed: boolean): void => {
    const { stale, staleIfError } = entry.lifetimes;
    if (staleIfError === 0 && (stale === 0 || isUnconfirmed)) return store.delete(key);
    entry.freshUntil = Math.min(entry.freshUntil, now());
    if (isUnconfirmed) entry.lifetimes = { ...entry.lifetimes, stale: 0 };
    delete entry.rendered;
  };
  const tier = openTier?.({ onDrop: dropHere, onLost: () => dropHere({ all: true }) });

  const wasWritten = ({ groups, endpoint }: Entry, mark: number): boolean =>
    invalidations.written([...groups, `@${endpoint}`, EVERYTHING], mark);

  /** Where others may have written unheard, what is kept has to be asked for anew. */
  const verdictOn = (entry: Entry, wanted: Directives, at: number): Freshness => {
    const freshness = freshnessOf(entry, at, wanted);
    if (tier === undefined || freshness === "not" || tier.trusted()) return freshness;
    // What belongs to a key is never served stale.
    return entry.owner === undefined ? "ifError" : "not";
  };

  /** What is everybody's is a public thing; that there is none may be otherwise for a caller with a key. */
  const isFor = ({ owner }: CacheRequest, entry: Entry): boolean =>
    owner === undefined || entry.owner !== undefined || entry.status === 200;

  const better = (
    best: FoundEntry | undefined,
    asking: CacheRequest,
    entry: Entry | undefined,
    at: number,
  ): FoundEntry | undefined => {
    if (entry === undefined || !isFor(asking, entry)) return best;
    const verdict = verdictOn(entry, asking.wanted, at);
    return best && worth[best.verdict] >= worth[verdict] ? best : { entry, verdict };
  };

  const inMemory = (asking: CacheRequest, at: number): FoundEntry | undefined => {
    let best: FoundEntry | undefined;
    for (const key of lookupKeys(asking)) {
      best = better(best, asking, store.get(key), at);
      if (best?.verdict === "fresh") break;
    }
    return best;
  };

  const inTier = async ({ key, lifetimesOf }: CacheKey): Promise<Entry | undefined> => {
    const mark = invalidations.mark();
    const found = await tier?.get(key);
    if (found === undefined || wasWritten(found, mark)) return undefined;
    // Another gateway may have been told to keep it for longer.
    const entry = withinLifetimes(found, lifetimesOf(found.status));
    if (entry === undefined || isExpired(entry, now())) return undefined;
    if (store.set(key, entry)) compression.offer(key, entry);
    return entry;
  };

  /** Other gateways get it compressed, which saves memory and time in the tier. The mark keeps out what was invalidated meanwhile. */
  const shareEntry = (shared: SharedTier, key: string, entry: Entry, mark: string | undefined): void => {
    const compressing = compression.request(key, entry, "br");
    if (compressing === undefined) shared.set(key, entry, mark);
    else void compressing.then(() => shared.set(key, entry, mark));
  };

  return {
    ready(asking, at) {
      const { question, owner, wanted } = asking;
      if (owner !== undefined) {
        const found = inMemory(asking, at);
        return found?.verdict === "fresh" ? found.entry : undefined;
      }
      // Most of all requests: nothing to weigh, and nothing made on the way.
      const entry = store.get(question.key);
      return entry !== undefined && verdictOn(entry, wanted, at) === "fresh" ? entry : undefined;
    },
    async find(asking) {
      const { owner, question } = asking;
      const found = inMemory(asking, now());
      // Only what everybody may see is in the tier.
      if (found?.verdict === "fresh" || !tier?.trusted() || (owner !== undefined && question.personal)) return found;
      const { key } = question;
      return better(found, asking, await (lookups.get(key) ?? lookups.launch(key, inTier(question))), now());
    },
    get: (key) => store.get(key),
    mark: () => ({ here: invalidations.mark(), shared: tier?.mark() }),
    keep(key, entry, mark) {
      if (wasWritten(entry, mark.here)) return false;
      const before = store.get(key);
      // The same bytes again, as after most refreshes: their codings stay.
      if (before?.tag === entry.tag && before.tag !== "") entry.coded = before.coded;
      const isStored = store.set(key, entry);
      if (!isStored) return false;
      compression.offer(key, entry);
      if (tier && entry.owner === undefined) shareEntry(tier, key, entry, mark.shared);
      return true;
    },
    remove(key, { owner }) {
      store.delete(key);
      if (owner === undefined) void tier?.drop({ keys: [key] });
    },
    forget(group) {
      for (const [key] of store.inGroups([group])) store.delete(key);
    },
    drop(drop) {
      dropHere(drop);
      return tier?.drop(drop);
    },
    sharing: () => tier && (tier.trusted() ? "in step" : "cut off"),
    close: async () => tier?.close(),
  };
};
