/** A content coding that answers are stored in (RFC 9110, section 8.4.1). */
export type Coding = "br" | "gzip";

/** An answer's bytes: as they are, and in the codings that were made so far. */
export type Representation = {
  status: number;
  body: Buffer;
  coded: Partial<Record<Coding, Buffer>>;
  /** The strong validator of `body`, without quotes; that of a coding has `-br` or `-gzip` appended. Empty for an answer that is not stored. */
  tag: string;
  /** Headers of this answer alone. */
  headers?: Record<string, string>;
};

/** A stored answer: its lifetimes, and the groups it belongs to. Times are on the clock of `performance.now()`. */
export type Entry = Representation & {
  endpoint: string;
  storedAt: number;
  lifetimes: Lifetimes;
  /** A soft invalidation brings it forward. */
  freshUntil: number;
  /** A write invalidates every entry that shares a group with it. */
  groups: readonly string[];
  /** The key that fetched it, hashed; only this caller may see it. `undefined` for a public answer. */
  owner?: string;
  /** How many refreshes in a row have failed, and when to try again. */
  failures: number;
  retryAt: number;
  /** While it is stored and large enough: has it compressed in the background, for later requests. */
  onCodingWanted?: (coding: Coding) => void;
  /** Codings that are not in `coded` though they were asked for: being made, or of no use (not smaller, or too large to be stored). */
  codingState?: Partial<Record<Coding, "pending" | "useless">>;
};

/** A new entry. */
export const entryOf = (
  representation: Representation,
  about: Pick<Entry, "endpoint" | "groups" | "owner" | "lifetimes" | "storedAt">,
): Entry => ({
  ...representation,
  ...about,
  freshUntil: about.storedAt + about.lifetimes.fresh,
  failures: 0,
  retryAt: 0,
});

/** The lifetimes of one answer in milliseconds. `mayTurnPrivate`: no client can extend `staleWhileRevalidate` by `max-stale`. */
export type Lifetimes = { fresh: number; staleWhileRevalidate: number; staleIfError: number; mayTurnPrivate?: true };

/** The lifetimes of an answer by its status; `undefined` where it must not be stored. */
export type LifetimesOf = (status: number) => Lifetimes | undefined;
