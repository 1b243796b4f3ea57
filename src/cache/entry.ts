import type { Directives } from "./directives.ts";
import type { Coding } from "./codings.ts";
import type { Representation } from "./representation.ts";
import { totalLifetime, type Lifetimes } from "./lifetimes.ts";

/** A stored answer: its lifetimes, and the groups it belongs to. Times in milliseconds since the epoch. */
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
  /** The headers of its hits, for one second and one set of CORS headers. */
  rendered?: { second: number; cors: readonly string[]; lists: (string[] | undefined)[] };
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

/** The same entry with lifetimes that are no longer than allowed; `undefined` where it may not be stored at all. */
export const withinLifetimes = (entry: Entry, allowed: Lifetimes | undefined): Entry | undefined => {
  if (allowed === undefined) return undefined;
  const fresh = Math.min(entry.lifetimes.fresh, allowed.fresh);
  const staleWhileRevalidate = Math.min(entry.lifetimes.staleWhileRevalidate, allowed.staleWhileRevalidate);
  const staleIfError = Math.min(entry.lifetimes.staleIfError, allowed.staleIfError);
  return {
    ...entry,
    lifetimes: { ...allowed, fresh, staleWhileRevalidate, staleIfError },
    freshUntil: Math.min(entry.freshUntil, entry.storedAt + fresh),
  };
};

/** Whether the entry may no longer be served at all. `now`: ms since the epoch. */
export const isExpired = (entry: Entry, now: number): boolean => now >= entry.storedAt + totalLifetime(entry.lifetimes);

/**
 * How an entry may be used now (RFC 9111, RFC 5861). `fresh`: it is served. `stale`: it is served and refreshed in the background.
 * `ifError`: legacy is asked first, it is served where legacy fails. `not`: it must not be served.
 */
export type Freshness = "fresh" | "stale" | "ifError" | "not";

/** How a request with these directives may use the entry. `now`: ms since the epoch. */
export const freshnessOf = (entry: Entry, now: number, wanted: Directives): Freshness => {
  if (wanted.noCache || wanted.noStore) return "not";
  const staleness = now - entry.freshUntil;
  const allowance = wanted.maxStale ?? 0;
  if (wanted.maxAge !== undefined && (wanted.maxAge === 0 || now - entry.storedAt > wanted.maxAge + allowance))
    return "not";
  if (wanted.minFresh !== undefined && staleness > -wanted.minFresh) return "not";
  if (staleness < 0) return "fresh";
  // An owner's entry is never served stale, whatever the client allows: the right to see it may be gone.
  if (entry.owner !== undefined) return "not";
  const { staleWhileRevalidate, staleIfError, mayTurnPrivate } = entry.lifetimes;
  if (staleness < (mayTurnPrivate ? staleWhileRevalidate : Math.max(staleWhileRevalidate, allowance))) return "stale";
  return staleness < staleIfError ? "ifError" : "not";
};

/** Milliseconds until the next refresh, after so many failures in a row: 1 s, doubled each time, 60 s at most. */
export const backOff = (failures: number): number => Math.min(1000 * 2 ** (failures - 1), 60_000);
