import type { Directives } from "./directives.ts";
import type { Coding } from "./codings.ts";
import type { Representation } from "./representation.ts";
import { totalLifetime, type Lifetimes } from "./lifetimes.ts";

/** Something kept: an answer, how long it holds, and what it is about. Times in milliseconds since the epoch. */
export type Entry = Representation & {
  endpoint: string;
  storedAt: number;
  lifetimes: Lifetimes;
  /** A soft purge brings it forward. */
  freshUntil: number;
  /** What it is about: a write drops every entry that shares a group with it. */
  groups: readonly string[];
  /** The key that fetched it, hashed, where nobody else may see it. */
  owner?: string;
  /** How often asking for it anew has failed, and when to try again. */
  failures: number;
  retryAt: number;
  /** While it is stored and large enough: has it compressed in the background, for later requests. */
  onCodingWanted?: (coding: Coding) => void;
  /** Codings that are not in `coded` though they were asked for: being made, or of no use (not smaller, or too large to be stored). */
  codingState?: Partial<Record<Coding, "pending" | "useless">>;
  /** Its headers as hits get them, for one second and one set of CORS headers. */
  rendered?: { second: number; cors: readonly string[]; lists: (string[] | undefined)[] };
};

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

/** The same entry for no longer than these windows allow; `undefined` where they allow nothing. */
export const withinLifetimes = (entry: Entry, allowed: Lifetimes | undefined): Entry | undefined => {
  if (allowed === undefined) return undefined;
  const fresh = Math.min(entry.lifetimes.fresh, allowed.fresh);
  const stale = Math.min(entry.lifetimes.stale, allowed.stale);
  const staleIfError = Math.min(entry.lifetimes.staleIfError, allowed.staleIfError);
  return {
    ...entry,
    lifetimes: { ...allowed, fresh, stale, staleIfError },
    freshUntil: Math.min(entry.freshUntil, entry.storedAt + fresh),
  };
};

/** Nothing may serve it any more. */
export const isExpired = (entry: Entry, now: number): boolean => now >= entry.storedAt + totalLifetime(entry.lifetimes);

/**
 * What an entry is good for now (RFC 9111, RFC 5861). `fresh`: it answers. `stale`: it answers, and is asked for anew in the background.
 * `ifError`: legacy is asked, it answers where legacy fails. `not`: only legacy can answer.
 */
export type Freshness = "fresh" | "stale" | "ifError" | "not";

export const freshnessOf = (entry: Entry, now: number, wanted: Directives): Freshness => {
  if (wanted.noCache || wanted.noStore) return "not";
  const staleness = now - entry.freshUntil;
  const allowance = wanted.maxStale ?? 0;
  if (wanted.maxAge !== undefined && (wanted.maxAge === 0 || now - entry.storedAt > wanted.maxAge + allowance))
    return "not";
  if (wanted.minFresh !== undefined && staleness > -wanted.minFresh) return "not";
  if (staleness < 0) return "fresh";
  // What belongs to a key is never served stale, whatever its client allows: the right to see it may be gone.
  if (entry.owner !== undefined) return "not";
  const { stale, staleIfError, mayTurnPrivate } = entry.lifetimes;
  if (staleness < (mayTurnPrivate ? stale : Math.max(stale, allowance))) return "stale";
  return staleness < staleIfError ? "ifError" : "not";
};

/** Milliseconds until legacy is asked again after so many failures in a row. */
export const backOff = (failures: number): number => Math.min(1000 * 2 ** (failures - 1), 60_000);
