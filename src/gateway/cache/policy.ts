import type { CacheRequest, Directives } from "./cacheRequest.ts";
import { type DeclaredLifetimes, type Duration, milliseconds } from "../../catalogue/index.ts";
import { type Entry, type Lifetimes, type LifetimesOf } from "./entry.ts";
import type { Invalidation } from "./secondTier.ts";

// The cache's policy: may an answer be stored, may it be served, for how long, and to whom. docs/caching.md says the
// same in the same order. All else in this folder is the mechanism. Durations are in milliseconds, times on the clock
// of `performance.now()`: an entry does not last longer if the system clock is set back.

// ---- Lifetimes

/**
 * How an entry may be used now. `stale`: served, and refreshed in the background. `ifError`: legacy is asked first, and
 * the entry is served if legacy fails.
 */
export type Freshness = "fresh" | "stale" | "ifError" | "not";

const MAX_PRIVATE_STALE: Duration = "1h";
/** A key may lose the right to see an answer that was fetched with it, without the gateway knowing. */
const MAX_OWNED_FRESH = 60_000;

/**
 * The declared lifetimes with defaults. If an answer may turn private, `staleWhileRevalidate` is at most an hour.
 */
export const withDefaults = ({
  fresh,
  staleWhileRevalidate = "0s",
  staleIfError = "0s",
  notFoundTtl = "60s",
  preconditionTtl = "15s",
  mayTurnPrivate,
}: DeclaredLifetimes): Required<Omit<DeclaredLifetimes, "mayTurnPrivate">> => {
  const isTooLong = mayTurnPrivate === true && milliseconds(staleWhileRevalidate) > milliseconds(MAX_PRIVATE_STALE);
  return {
    fresh,
    staleWhileRevalidate: isTooLong ? MAX_PRIVATE_STALE : staleWhileRevalidate,
    staleIfError,
    notFoundTtl,
    preconditionTtl,
  };
};

const freshFor = (fresh: number): Lifetimes => ({ fresh, staleWhileRevalidate: 0, staleIfError: 0 });

/** The lifetimes by status. An answer with any other status must not be stored: an error, or the refusal of a key. */
const lifetimesByStatus = (declared: DeclaredLifetimes): Record<number, Lifetimes> => {
  const { fresh, staleWhileRevalidate, staleIfError, notFoundTtl, preconditionTtl } = withDefaults(declared);
  const ok: Lifetimes = {
    fresh: milliseconds(fresh),
    staleWhileRevalidate: milliseconds(staleWhileRevalidate),
    staleIfError: milliseconds(staleIfError),
    ...(declared.mayTurnPrivate && { mayTurnPrivate: true }),
  };
  const notFound = freshFor(milliseconds(notFoundTtl));
  return { 200: ok, 404: notFound, 410: notFound, 412: freshFor(milliseconds(preconditionTtl)) };
};

/** Returns the look-up of an endpoint's lifetimes. An unfinished document is fresh for a short time: it will change. */
export const lifetimesBy = (declared: DeclaredLifetimes): LifetimesOf => {
  const byStatus = lifetimesByStatus(declared);
  const soon = milliseconds(withDefaults(declared).preconditionTtl);
  return (status, isUnfinished = false) => {
    const lifetimes = byStatus[status];
    if (lifetimes === undefined || !isUnfinished) return lifetimes;
    return { ...lifetimes, fresh: Math.min(lifetimes.fresh, soon), staleWhileRevalidate: 0 };
  };
};

const changing =
  (lifetimesOf: LifetimesOf, changes: Partial<Lifetimes>): LifetimesOf =>
  (status, isUnfinished) => {
    const lifetimes = lifetimesOf(status, isUnfinished);
    return lifetimes && { ...lifetimes, ...changes };
  };

/** The same lifetimes, except that no answer is ever served stale. */
export const freshOnly = (lifetimesOf: LifetimesOf): LifetimesOf =>
  changing(lifetimesOf, { staleWhileRevalidate: 0, staleIfError: 0 });

/** The same lifetimes, except that an answer is served stale only if its backend fails. */
export const staleIfErrorOnly = (lifetimesOf: LifetimesOf): LifetimesOf =>
  changing(lifetimesOf, { staleWhileRevalidate: 0 });

/**
 * The lifetimes with which an answer that was fetched for this owner is stored; `undefined`: it must not be stored.
 * `freshAtMost`: in milliseconds; if it is given, the answer is not served while it is revalidated.
 */
export const storedFor = (
  lifetimes: Lifetimes | undefined,
  owner: string | undefined,
  freshAtMost = Infinity,
): Lifetimes | undefined => {
  if (lifetimes === undefined) return undefined;
  const fresh = Math.min(lifetimes.fresh, freshAtMost);
  if (owner !== undefined) return freshFor(Math.min(fresh, MAX_OWNED_FRESH));
  return freshAtMost === Infinity ? lifetimes : { ...lifetimes, fresh, staleWhileRevalidate: 0 };
};

/** Milliseconds from the storing of an answer to the time at which it expires. */
const totalLifetime = ({ fresh, staleWhileRevalidate, staleIfError }: Lifetimes): number =>
  fresh + Math.max(staleWhileRevalidate, staleIfError);

/** Milliseconds for which an answer of the endpoint may be stored at most. */
export const longestLifetime = (declared: DeclaredLifetimes): number =>
  Math.max(...Object.values(lifetimesByStatus(declared)).map(totalLifetime));

/** The time from which the entry may not be served any more. */
export const expiryOf = ({ storedAt, lifetimes }: Entry): number => storedAt + totalLifetime(lifetimes);

/** Milliseconds to the next refresh, after so many failures in a row: 1 s, doubled each time, 60 s at most. */
export const backOff = (failures: number): number => Math.min(1000 * 2 ** (failures - 1), 60_000);

// ---- Who gets a cached answer

/** True if the caller may get entries that were fetched without a key: some lists show more to a caller with a key. */
export const mayUsePublic = ({ owner, cacheKey }: CacheRequest): boolean => owner === undefined || !cacheKey.personal;

/** Callers with a key may use a public 200, but no public 404: the resource may be their own private one. */
export const mayUse = ({ owner }: CacheRequest, entry: Entry): boolean =>
  owner === undefined || entry.owner !== undefined || entry.status === 200;

/** True if an entry may leave this gateway: an entry that was fetched with a key stays. */
export const isShared = ({ owner }: Pick<Entry, "owner">): boolean => owner === undefined;

// ---- Writes

/**
 * Makes an entry stale. False: it must be deleted. `isForFailure`: from now on it is only served if legacy is asked
 * first, and fails.
 */
export const makeStale = (entry: Entry, now: number, isForFailure: boolean): boolean => {
  const { staleWhileRevalidate, staleIfError } = entry.lifetimes;
  if (staleIfError === 0 && (staleWhileRevalidate === 0 || isForFailure)) return false;
  entry.freshUntil = Math.min(entry.freshUntil, now);
  if (isForFailure) {
    entry.lifetimes = { ...entry.lifetimes, staleWhileRevalidate: 0 };
    entry.isOutdated = true;
  }
  // Legacy may have recovered.
  entry.failures = 0;
  entry.retryAt = 0;
  return true;
};

/**
 * True if the entry stays, to be served if legacy fails: it is a list that the write changes by its `lists` only. A 404
 * is no list, and an answer about a single entity has a group that is not in `lists`.
 */
export const isListLeft = (entry: Entry, { groups = [], lists = [] }: Invalidation): boolean =>
  lists.length > 0 &&
  entry.status === 200 &&
  entry.groups.every((group) => lists.includes(group) || !groups.includes(group));

// ---- Concurrent requests

/** Milliseconds after an answer that must not be stored in which concurrent requests do not share a fetch. */
export const UNCACHEABLE_FOR = 5000;

/** Milliseconds that a request waits for legacy if there is a stale answer; the fetch goes on. */
export const MAX_WAIT_BESIDE_STALE = 5000;

/** True for a failure of legacy. Waiting requests share it, the next request asks again, and a stored entry stays. */
export const isFailure = (status: number): boolean => status >= 500;

// ---- What clients may ask for

/** True if the answer to this request may be stored, provided that its status allows it. */
export const mayStore = ({ noStore }: Directives): boolean => noStore !== true;

/**
 * How a request with these directives may use the entry (RFC 9111, RFC 5861). `isInStep`: the second tier delivers
 * every invalidation now.
 */
export const freshnessOf = (entry: Entry, now: number, wanted: Directives, isInStep = true): Freshness => {
  const isCertain = isInStep && entry.isDoubtful !== true;
  if (wanted.noCache || wanted.noStore) return "not";
  const staleness = now - entry.freshUntil;
  if (wanted.maxAge !== undefined && (wanted.maxAge === 0 || now - entry.storedAt > wanted.maxAge)) return "not";
  if (wanted.onlyFresh && staleness >= 0) return "not";
  // An owner's entry is never served stale: the right to see it may be gone.
  if (entry.owner !== undefined) return isCertain && staleness < 0 ? "fresh" : "not";
  const { staleWhileRevalidate, staleIfError } = entry.lifetimes;
  if (!isCertain) return staleness < Math.max(staleWhileRevalidate, staleIfError) ? "ifError" : "not";
  if (staleness < 0) return "fresh";
  if (staleness < staleWhileRevalidate) return "stale";
  return staleness < staleIfError ? "ifError" : "not";
};

// ---- The second tier

/** Milliseconds by which `storedAt` of an entry may have changed on its way through the second tier. */
const IMPRECISION = 1000;

/**
 * True if the second tier's entry replaces the entry in memory: it is newer, or the entry in memory may have missed an
 * invalidation.
 */
export const isBetter = (theirs: Entry, ours: Entry | undefined): boolean =>
  ours === undefined || ours.isDoubtful === true || theirs.storedAt > ours.storedAt + IMPRECISION;

/**
 * An entry that was stored before the gateway was started. Others may have written meanwhile, so it is served only if
 * legacy fails; if it may have turned private, for an hour from when it was fetched.
 */
export const afterRestart = (entry: Entry): Entry => {
  const { lifetimes, storedAt, freshUntil } = entry;
  const doubtful: Entry = { ...entry, isDoubtful: true };
  if (lifetimes.mayTurnPrivate !== true) return doubtful;
  const hour = milliseconds(MAX_PRIVATE_STALE);
  const staleIfError = Math.min(lifetimes.staleIfError, Math.max(0, storedAt + hour - freshUntil));
  const fresh = Math.min(lifetimes.fresh, hour);
  return {
    ...doubtful,
    freshUntil: Math.min(freshUntil, storedAt + hour),
    lifetimes: { ...lifetimes, fresh, staleWhileRevalidate: 0, staleIfError },
  };
};

/** Another gateway's entry, with lifetimes limited to this gateway's; `undefined` if it may not be stored here. */
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
