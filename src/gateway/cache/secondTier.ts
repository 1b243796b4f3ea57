import type { Coding, Entry } from "./entry.ts";

/** The entries that must not be served any more: by key, by group, by endpoint, or all of them. */
export type Invalidation = {
  keys?: readonly string[];
  groups?: readonly string[];
  /** The part of `groups` whose lists become stale instead of being deleted: they are served only if legacy fails. */
  lists?: readonly string[];
  endpoint?: string;
  all?: true;
  /** The entries become stale instead of being deleted. With `hold` they are served only if legacy fails. */
  soft?: boolean;
  /** Milliseconds for which the write may still be going on: an answer that is fetched meanwhile is not stored. */
  hold?: number;
};

/**
 * A second tier behind the memory: a Redis that several gateways share, or the disk of this one. Its calls neither
 * reject nor take long.
 */
export type SecondTier = {
  /**
   * True if this gateway has received every invalidation by others until a moment ago. Otherwise no entry may be served
   * without asking legacy. Absent for a tier of this gateway alone: all that it may hold is, or was, in memory.
   */
  trusted?(): boolean;
  /** An entry is compressed in this coding before it is stored; absent: it is stored in the codings that it has. */
  coding?: Coding;
  /**
   * The last invalidation that was received. It is read before a fetch, and the answer is stored only if no other
   * invalidation has been received by then.
   */
  mark?(): string | undefined;
  /** False if it surely has no such entry, so that no time is lost with `get`. */
  mayHave?(key: string): boolean;
  get(key: string): Promise<Entry | undefined>;
  /** Stores in the background, in the order of the calls of `set` and `invalidate`. */
  set(key: string, entry: Entry, mark: string | undefined): void;
  /**
   * Invalidates in all gateways. True when all have acknowledged it. False after a bounded wait: each gateway then
   * applies it as soon as it can.
   */
  invalidate(invalidation: Invalidation): Promise<boolean>;
  close(): Promise<void>;
};

/**
 * Opens a tier. It calls `onInvalidation` for each invalidation by another gateway, and `onLost` if it may have missed
 * any: all entries are then served only if legacy fails. The memory stores entries while the tier is not trusted, so
 * the tier also calls `onLost` before it is trusted for the first time.
 */
export type OpenSecondTier = (listener: {
  onInvalidation(invalidation: Invalidation): void;
  onLost(): void;
}) => SecondTier;
