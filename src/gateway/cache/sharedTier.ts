import type { Entry } from "./entry.ts";

/** Which entries must not be served any more: by key, by group, by endpoint, or all of them. */
export type Invalidation = {
  keys?: readonly string[];
  groups?: readonly string[];
  /** Of the groups, those whose lists become stale, to be served where legacy fails alone, instead of being deleted. */
  lists?: readonly string[];
  endpoint?: string;
  all?: true;
  /** The entries become stale instead of being deleted. With `hold` they are only served where legacy fails. */
  soft?: boolean;
  /** Milliseconds for which the write may still be going on: nothing that is fetched meanwhile is stored. */
  hold?: number;
};

/** A second tier behind the memory, shared by several gateways. Its calls neither reject nor take long. */
export type SharedTier = {
  /**
   * Whether this gateway has received every invalidation until a moment ago. If not, no entry may be
   * served without asking legacy.
   */
  trusted(): boolean;
  /**
   * The last invalidation that was received. It is taken before a fetch; an answer is only stored
   * if there was none since.
   */
  mark(): string | undefined;
  get(key: string): Promise<Entry | undefined>;
  /** Stores in the background. */
  set(key: string, entry: Entry, mark: string | undefined): void;
  /**
   * Invalidates in all gateways. True when they have acknowledged it; false after a bounded wait, and it then holds
   * in each as soon as it can.
   */
  invalidate(invalidation: Invalidation): Promise<boolean>;
  close(): Promise<void>;
};

/**
 * Opens a tier. `onInvalidation` is called with what other gateways invalidate, `onLost` where some of it may have been
 * missed: what is cached then is served only if legacy fails. The memory stores entries while the tier is not trusted,
 * so the tier calls `onLost` before it is trusted for the first time as well.
 */
export type OpenSharedTier = (listener: {
  onInvalidation(invalidation: Invalidation): void;
  onLost(): void;
}) => SharedTier;
