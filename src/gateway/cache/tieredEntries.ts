import { judgedStatus } from "../../catalogue/index.ts";
import { type CacheKey, type CacheRequest, entryKey } from "./cacheRequest.ts";
import { openCompression } from "./compression.ts";
import type { Entry } from "./entry.ts";
import { openInvalidationLog } from "./invalidationLog.ts";
import {
  afterRestart,
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
import type { Invalidation, OpenSecondTier, SecondTier } from "./secondTier.ts";
import { openSingleFlight } from "./singleFlight.ts";
import type { Store } from "./store.ts";

/** An entry that was found, and how it may be used now. */
export type FoundEntry = { entry: Entry; freshness: Freshness };

/** A mark that is taken before a fetch, so that an answer from before a write is not stored after it. */
export type WriteMark = { here: number; shared: string | undefined };

const EVERYTHING = "*";

/** The settings of `TieredEntries`. */
export type TieredEntriesSettings = {
  store: Store;
  openTier?: OpenSecondTier | undefined;
  /** Milliseconds that a look-up in the second tier, or a fetch, may take. */
  timeout: number;
  /** Called for each entry that is invalidated. */
  onInvalidated: () => void;
  /** Called with failures in the background, for which no client waits. */
  onError: (error: unknown) => void;
  /** The clock of the entries, in milliseconds. */
  now: () => number;
};

/** All entries: those in memory, and those in the second tier behind it. */
export class TieredEntries {
  readonly #settings: TieredEntriesSettings;
  readonly #store: Store;
  readonly #tier: SecondTier | undefined;
  readonly #invalidations;
  readonly #compression;
  readonly #lookups;
  /** The time at which an invalidation may have been missed, most recently. */
  #doubtedAt: string | undefined;

  constructor(settings: TieredEntriesSettings) {
    const { store, openTier, timeout, onError, now } = settings;
    this.#settings = settings;
    this.#store = store;
    this.#invalidations = openInvalidationLog({ now });
    this.#compression = openCompression(store, onError);
    this.#lookups = openSingleFlight<Entry | undefined>(timeout);
    this.#tier = openTier?.({
      onInvalidation: (invalidation) => this.#invalidateHere(invalidation),
      onLost: () => this.#doubtAll(),
    });
  }

  /**
   * The most useful entry in memory for a request: the owner's or the public entry. `at`: on the clock of the entries.
   * `shared`: the public entry, if it was found in the second tier.
   */
  lookUp(request: CacheRequest, at: number, shared?: Entry): FoundEntry | undefined {
    const { cacheKey, owner } = request;
    const own =
      owner === undefined ? undefined : this.#withFreshness(request, this.#store.get(entryKey(request, owner)), at);
    if (own?.freshness === "fresh" || !mayUsePublic(request)) return own;
    const common = this.#withFreshness(request, shared ?? this.#store.get(cacheKey.key), at);
    return own !== undefined && (common === undefined || common.freshness === "not") ? own : common;
  }

  #withFreshness(request: CacheRequest, entry: Entry | undefined, at: number): FoundEntry | undefined {
    if (entry === undefined || !mayUse(request, entry)) return undefined;
    return { entry, freshness: freshnessOf(entry, at, request.wanted, this.#tier?.trusted?.()) };
  }

  /** Looks up with the entry of the second tier, if that is better than the entry in memory; else `undefined`. */
  async lookUpInTier(request: CacheRequest): Promise<FoundEntry | undefined> {
    const { key } = request.cacheKey;
    const tier = this.#tier;
    if (tier === undefined || !mayUsePublic(request) || tier.mayHave?.(key) === false) return undefined;
    // A tier of this gateway alone has nothing better than the memory.
    if (tier.trusted === undefined ? this.#store.get(key) !== undefined : !tier.trusted()) return undefined;
    const entry = await (this.#lookups.get(key) ?? this.#lookups.launch(key, this.#findInTier(request.cacheKey)));
    return entry && this.lookUp(request, this.#settings.now(), entry);
  }

  /** The most useful entry for a request, in memory or in the second tier. */
  async find(request: CacheRequest): Promise<FoundEntry | undefined> {
    return (await this.lookUpInTier(request)) ?? this.lookUp(request, this.#settings.now());
  }

  /** Deletes the public entry of this key in all gateways, if there is one: its backend no longer gives it. */
  async forget(cacheKey: CacheKey): Promise<void> {
    const found = await this.find({ cacheKey, owner: undefined, wanted: {} });
    if (found) this.invalidateEntry(cacheKey.key, found.entry);
  }

  /** Takes an entry from the tier into memory if it is better than the entry there. */
  async #findInTier({ key, lifetimesOf }: CacheKey): Promise<Entry | undefined> {
    const mark = this.#invalidations.mark();
    const theirs = await this.#tier?.get(key);
    // A tier of this gateway alone has had the writes from before, also those that may still be going on.
    const withHolds = this.#tier?.trusted !== undefined;
    if (theirs === undefined || this.wasWritten(theirs, mark, withHolds)) return undefined;
    if (this.#invalidations.written([key], mark, withHolds)) return undefined;
    if (!isBetter(theirs, this.#store.get(key))) return undefined;
    // Another gateway may be configured with longer lifetimes.
    const allowed = withinLifetimes(theirs, lifetimesOf(judgedStatus(theirs)));
    const entry = allowed?.isDoubtful ? afterRestart(allowed) : allowed;
    if (entry === undefined || this.#settings.now() >= expiryOf(entry)) return undefined;
    if (entry.isDoubtful) this.#doubtedAt ??= new Date().toISOString();
    if (this.#store.set(key, entry)) this.#compression.offer(key, entry);
    return entry;
  }

  mark(): WriteMark {
    return { here: this.#invalidations.mark(), shared: this.#tier?.mark?.() };
  }

  /**
   * True if a member of these groups was written since the mark, or may have been. `withHolds`: also if a write from
   * before may still be going on.
   */
  wasWritten({ groups, endpoint }: Pick<Entry, "groups" | "endpoint">, mark: number, withHolds = true): boolean {
    return this.#invalidations.written([...groups, `@${endpoint}`, EVERYTHING], mark, withHolds);
  }

  /** Stores an entry. False if it is too large, or if one of its groups was written since the mark. */
  put(key: string, entry: Entry, mark: WriteMark): boolean {
    if (this.wasWritten(entry, mark.here)) return false;
    const previous = this.#store.get(key);
    // Most refreshes bring the same bytes again: their codings are still right.
    if (previous?.tag === entry.tag) entry.coded = previous.coded;
    if (!this.#store.set(key, entry)) {
      // The tier may have the entry before this one.
      if (this.#tier?.mayHave?.(key)) this.invalidateEntry(key, entry);
      return false;
    }
    this.#compression.offer(key, entry);
    if (this.#tier && isShared(entry)) this.#share(this.#tier, key, entry, mark.shared);
    return true;
  }

  /** Keeps a form of an entry with it, if the entry is stored and has room for it. */
  keepForm(key: string, entry: Entry, name: string, form: Entry): void {
    if (this.#store.setForm(key, entry, name, form)) this.#compression.offer(key, form);
  }

  /** An entry invalidated since the mark is not stored. */
  #share(tier: SecondTier, key: string, entry: Entry, mark: string | undefined): void {
    const compressing = tier.coding && this.#compression.request(key, entry, tier.coding);
    if (compressing === undefined) tier.set(key, entry, mark);
    else compressing.then(() => tier.set(key, entry, mark)).catch(this.#settings.onError);
  }

  /** Deletes this entry, in all gateways unless it has an owner. */
  invalidateEntry(key: string, entry: Entry): void {
    this.#store.delete(key);
    this.#invalidations.write([key]);
    if (isShared(entry)) this.#tier?.invalidate({ keys: [key] }).catch(this.#settings.onError);
  }

  /** Deletes the entries of a group or of an owner, in this gateway only. */
  invalidateLocally(group: string): void {
    for (const [key] of this.#store.inGroups([group])) this.#store.delete(key);
  }

  /**
   * Invalidates here at once. True when the other gateways have done so too, false after a bounded wait; `undefined` if
   * there are no others.
   */
  invalidate(invalidation: Invalidation): Promise<boolean> | undefined {
    this.#invalidateHere(invalidation);
    return this.#tier?.invalidate(invalidation);
  }

  #invalidateHere(invalidation: Invalidation): void {
    const { keys = [], groups = [], endpoint, all, soft = false, hold = 0 } = invalidation;
    const now = this.#settings.now();
    this.#lookups.clear();
    const named = endpoint === undefined ? groups : [...groups, `@${endpoint}`];
    // A soft invalidation is logged as well: a fetch that began before it must not be stored as fresh.
    this.#invalidations.write(all ? [EVERYTHING] : [...named, ...keys], hold && now + hold);
    const byGroup = this.#store.inGroups(groups);
    const byEndpoint =
      all || endpoint !== undefined ? this.#store.all().filter(([, entry]) => all || entry.endpoint === endpoint) : [];
    for (const key of keys) this.#store.delete(key);
    for (const [key, entry] of [...byGroup, ...byEndpoint]) {
      this.#settings.onInvalidated();
      const isLeft = soft || isListLeft(entry, invalidation);
      if (!isLeft || !makeStale(entry, now, !soft || hold > 0)) this.#store.delete(key);
    }
  }

  /**
   * From now on all entries are served only if legacy fails, as in a gap of the tier. Running fetches store nothing.
   */
  #doubtAll(): void {
    this.#doubtedAt = new Date().toISOString();
    this.#lookups.clear();
    this.#invalidations.write([EVERYTHING]);
    for (const [, entry] of this.#store.all()) entry.isDoubtful = true;
  }

  /**
   * The number of entries that are served only if legacy fails, because an invalidation may have been missed, and since
   * when. `undefined` if there are no such entries.
   */
  doubtful(): { entries: number; since: string } | undefined {
    if (this.#doubtedAt === undefined) return undefined;
    const left = this.#store.all().filter(([, { isDoubtful }]) => isDoubtful === true);
    if (left.length > 0) return { entries: left.length, since: this.#doubtedAt };
    // All doubtful entries have been fetched again, or are gone.
    this.#doubtedAt = undefined;
    return undefined;
  }

  /** Says if Redis is trusted; `undefined` if no other gateway shares the second tier. */
  sharing(): "in step" | "cut off" | undefined {
    return this.#tier?.trusted && (this.#tier.trusted() ? "in step" : "cut off");
  }

  size(): ReturnType<Store["size"]> {
    return this.#store.size();
  }

  /** True if an entry is small enough to be stored. */
  fits(...[key, entry]: Parameters<Store["fits"]>): boolean {
    return this.#store.fits(key, entry);
  }

  async close(): Promise<void> {
    await this.#tier?.close();
  }
}
