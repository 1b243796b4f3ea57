import type { Entry } from "./entry.ts";

/**
 * What is no longer to be served: by key, by group, by endpoint, or everything. `soft`: stale, rather than gone. `hold`: a write may still be
 * going on for so many milliseconds, and nothing read meanwhile is to be kept; together with `soft`, entries only stand in where legacy fails.
 */
export type Invalidation = {
  keys?: readonly string[];
  groups?: readonly string[];
  endpoint?: string;
  all?: true;
  soft?: boolean;
  hold?: number;
};

/** A second tier behind the memory, shared by several gateways. None of its calls fails, and none takes long. */
export type SharedTier = {
  /** Whether this gateway has heard of every drop until a moment ago; where not, nothing kept may be served unasked. */
  trusted(): boolean;
  /** The last drop heard of, taken before a read begins; an entry is only kept if there was none since. */
  mark(): string | undefined;
  get(key: string): Promise<Entry | undefined>;
  /** In the background. */
  set(key: string, entry: Entry, mark: string | undefined): void;
  /** Tells all gateways; comes back when it is known to them, or after a bounded wait, with the rest to follow. */
  drop(drop: Invalidation): Promise<void>;
  close(): Promise<void>;
};

/**
 * How a tier is opened: `onDrop` is told of the drops of other gateways, `onLost` that some may have been missed. Entries are kept while the
 * tier is not trusted, so it has to be told before the first time as well.
 */
export type OpenSharedTier = (told: { onDrop(drop: Invalidation): void; onLost(): void }) => SharedTier;
