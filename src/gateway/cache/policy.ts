import type { CacheRequest, Directives } from "./cacheRequest.ts";
import { type DeclaredLifetimes, type Duration, milliseconds } from "../../catalogue/index.ts";
import { type Entry, type Lifetimes, type LifetimesOf } from "./entry.ts";
import type { Invalidation } from "./sharedTier.ts";

// The cache's policy: may an answer be stored, may it be served, for how long, and to whom. docs/caching.md says the
// same in the same order. All else in this folder is the mechanism. Times are in milliseconds, moments on the clock of
// `performance.now()`: no entry lasts longer because the clock of the day is set back.

// ---- Lifetimes

/**
 * How an entry may be used now. `stale`: served, and refreshed meanwhile. `ifError`: served if
 * legacy, asked first, fails.
 */
export type Freshness = "fresh" | "stale" | "ifError" | "not";

const MAX_PRIVATE_STALE: Duration = "1h";
/** The right to see an answer that was fetched with a key may be withdrawn without the gateway knowing. */
const MAX_OWNED_FRESH = 60_000;

/**
 * The lifetimes in force. What may turn private is stale while revalidated for an hour at most, whatever was declared.
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

/** By status. An answer with any other must not be stored: an error, or a key that was refused. */
const lifetimesByStatus = (declared: DeclaredLifetimes): Record<number, Lifetimes> => {
  const { fresh, staleWhileRevalidate, staleIfError, notFoundTtl, preconditionTtl } = withDefaults(declared);
  const ok: Lifetimes = {
    fresh: milliseconds(fresh),
    staleWhileRevalidate: milliseconds(staleWhileRevalidate),
    staleIfError: milliseconds(staleIfError),
  };
  const notFound = freshFor(milliseconds(notFoundTtl));
  return { 200: ok, 404: notFound, 410: notFound, 412: freshFor(milliseconds(preconditionTtl)) };
};

/** Looks up the lifetimes of an endpoint's answers. An unfinished document changes as soon as a state does. */
export const lifetimesBy = (declared: DeclaredLifetimes): LifetimesOf => {
  const byStatus = lifetimesByStatus(declared);
  const soon = milliseconds(withDefaults(declared).preconditionTtl);
  return (status, isUnfinished = false) => {
    const lifetimes = byStatus[status];
    if (lifetimes === undefined || !isUnfinished) return lifetimes;
    return { ...lifetimes, fresh: Math.min(lifetimes.fresh, soon), staleWhileRevalidate: 0 };
  };
};

/** The same lifetimes, but no answer is ever served stale. */
export const freshOnly =
  (lifetimesOf: LifetimesOf): LifetimesOf =>
  (status, isUnfinished) => {
    const lifetimes = lifetimesOf(status, isUnfinished);
    return lifetimes && { ...lifetimes, staleWhileRevalidate: 0, staleIfError: 0 };
  };

/**
 * For how long the answer with these lifetimes may be stored that was fetched as this owner; `undefined`: it must not
 * be. `freshAtMost`: in milliseconds; such an answer is not served while it is revalidated.
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

/** From the moment at which an answer is stored to the last one at which it may be served. */
const totalLifetime = ({ fresh, staleWhileRevalidate, staleIfError }: Lifetimes): number =>
  fresh + Math.max(staleWhileRevalidate, staleIfError);

/** The longest time for which any answer of an endpoint may be stored. */
export const longestLifetime = (declared: DeclaredLifetimes): number =>
  Math.max(...Object.values(lifetimesByStatus(declared)).map(totalLifetime));

/** The moment from which the entry may not be served any more. */
export const expiryOf = ({ storedAt, lifetimes }: Entry): number => storedAt + totalLifetime(lifetimes);

/** Until the next refresh, after so many failures in a row: 1 s, doubled each time, 60 s at most. */
export const backOff = (failures: number): number => Math.min(1000 * 2 ** (failures - 1), 60_000);

// ---- Who gets a cached answer

/** Whether a caller may be served from the entries that were fetched without a key. With a key some lists show more. */
export const mayUsePublic = ({ owner, cacheKey }: CacheRequest): boolean => owner === undefined || !cacheKey.personal;

/** Callers with a key may use a public 200, but no public 404: the resource may be their own private one. */
export const mayUse = ({ owner }: CacheRequest, entry: Entry): boolean =>
  owner === undefined || entry.owner !== undefined || entry.status === 200;

/** Whether an entry may leave this gateway: what was fetched with a key stays. */
export const isShared = ({ owner }: Pick<Entry, "owner">): boolean => owner === undefined;

// ---- Writes

/**
 * Makes an entry stale; false: it must go. `isForFailure`: from now on it is only served where
 * legacy, asked first, fails.
 */
export const makeStale = (entry: Entry, now: number, isForFailure: boolean): boolean => {
  const { staleWhileRevalidate, staleIfError } = entry.lifetimes;
  if (staleIfError === 0 && (staleWhileRevalidate === 0 || isForFailure)) return false;
  entry.freshUntil = Math.min(entry.freshUntil, now);
  if (isForFailure) {
    entry.lifetimes = { ...entry.lifetimes, staleWhileRevalidate: 0 };
    entry.isOutdated = true;
  }
  // What was wrong with legacy may be over.
  entry.failures = 0;
  entry.retryAt = 0;
  return true;
};

/**
 * Whether a write leaves the entry for legacy's failure: a list that it touches by its `lists` alone. What was not
 * found is no list, and an answer about one entity has a group of its own.
 */
export const isListLeft = (entry: Entry, { groups = [], lists = [] }: Invalidation): boolean =>
  lists.length > 0 &&
  entry.status === 200 &&
  entry.groups.every((group) => lists.includes(group) || !groups.includes(group));

// ---- Concurrent requests

/** After an answer that must not be stored, concurrent requests do not wait for each other for so long. */
export const UNCACHEABLE_FOR = 5000;

/** Milliseconds that a request waits for legacy where a stale answer is at hand; the fetch runs on. */
export const MAX_WAIT_BESIDE_STALE = 5000;

/** Legacy's failure: the next request asks again, and those who wait share it. It says nothing against an entry. */
export const isFailure = (status: number): boolean => status >= 500;

// ---- What clients may ask for

/** Whether the answer to this request may be stored, where its status allows it. */
export const mayStore = ({ noStore }: Directives): boolean => noStore !== true;

/**
 * How a request with these directives may use the entry (RFC 9111, RFC 5861). `isInStep`: no
 * invalidation is missed now.
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

// ---- More than one gateway

/** Milliseconds by which the moment of an entry may have changed on its way through the shared tier. */
const IMPRECISION = 1000;

/**
 * Whether the shared tier's entry is served in place of the one here: it is newer, or certain
 * where the one here is not.
 */
export const isBetter = (theirs: Entry, ours: Entry | undefined): boolean =>
  ours === undefined || ours.isDoubtful === true || theirs.storedAt > ours.storedAt + IMPRECISION;

/** Another gateway's entry within the lifetimes of this one; `undefined` where it may not be stored here. */
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
