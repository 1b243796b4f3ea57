import type { Directives } from "./cacheRequest.ts";
import type { Coding } from "./compression.ts";
import type { Representation } from "./reply.ts";

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
  // An entry from the future: the clock was set back, so its age is not known.
  if (wanted.noCache || wanted.noStore || now < entry.storedAt) return "not";
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

/** `"90s"`, `"10m"`, `"24h"`, `"7d"` */
export type Duration = `${number}${"s" | "m" | "h" | "d"}`;

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Whether a text is a duration of at most six digits. */
export const isDuration = (text: string): text is Duration => /^\d{1,6}[smhd]$/.test(text);

/** `"10m"` -> 600000 */
export const milliseconds = (duration: Duration): number =>
  Number(duration.slice(0, -1)) * units[duration.slice(-1) as keyof typeof units];

/**
 * How long answers of an endpoint may be served, by definition or by the setting `CACHE_LIFETIMES`. `staleWhileRevalidate` and
 * `staleIfError` (RFC 5861) both count from the end of `fresh`; the default of both is 0.
 */
export type DeclaredLifetimes = {
  fresh: Duration;
  /** Served while it is fetched anew in the background. */
  staleWhileRevalidate?: Duration;
  /** Served where legacy fails. */
  staleIfError?: Duration;
  /** Of 404 and 410; default 60 s. */
  notFoundTtl?: Duration;
  /** Of 412, a state that will change soon; default 15 s. */
  preconditionTtl?: Duration;
  /** The resource may turn private: `staleWhileRevalidate` is an hour at most, whatever is declared. */
  mayTurnPrivate?: true;
};

/** The lifetimes of one answer in milliseconds. `mayTurnPrivate`: no client can extend `staleWhileRevalidate` by `max-stale`. */
export type Lifetimes = { fresh: number; staleWhileRevalidate: number; staleIfError: number; mayTurnPrivate?: true };

/** The lifetimes of an answer by its status; `undefined` where it must not be stored. */
export type LifetimesOf = (status: number) => Lifetimes | undefined;

const freshFor = (fresh: number): Lifetimes => ({ fresh, staleWhileRevalidate: 0, staleIfError: 0 });

const MAX_PRIVATE_STALE: Duration = "1h";
/** Milliseconds: the right to see an owner's answer may be withdrawn without the gateway knowing. */
const MAX_OWNED_FRESH = 60_000;

/** The lifetimes in force: what was declared, within its bounds, and the defaults. */
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

const lifetimesByStatus = (declared: DeclaredLifetimes): Record<number, Lifetimes> => {
  const { fresh, staleWhileRevalidate, staleIfError, notFoundTtl, preconditionTtl } = withDefaults(declared);
  const found: Lifetimes = {
    fresh: milliseconds(fresh),
    staleWhileRevalidate: milliseconds(staleWhileRevalidate),
    staleIfError: milliseconds(staleIfError),
    ...(declared.mayTurnPrivate ? { mayTurnPrivate: true } : {}),
  };
  const notFound = freshFor(milliseconds(notFoundTtl));
  return { 200: found, 404: notFound, 410: notFound, 412: freshFor(milliseconds(preconditionTtl)) };
};

/** Looks up the lifetimes of an endpoint's answers. */
export const lifetimesBy = (declared: DeclaredLifetimes): LifetimesOf => {
  const byStatus = lifetimesByStatus(declared);
  return (status) => byStatus[status];
};

/** The lifetimes of an answer that was fetched with a key, and is served to that key alone: never stale, fresh for a minute at most. */
export const ownedLifetimes = ({ fresh }: Lifetimes): Lifetimes => freshFor(Math.min(fresh, MAX_OWNED_FRESH));

/** The same lifetimes, but no answer is ever served stale. */
export const freshOnly =
  (lifetimesOf: LifetimesOf): LifetimesOf =>
  (status) => {
    const lifetimes = lifetimesOf(status);
    return lifetimes && { ...lifetimes, staleWhileRevalidate: 0, staleIfError: 0 };
  };

/** Milliseconds from the moment at which an answer is stored to the last one at which it may be served. */
export const totalLifetime = ({ fresh, staleWhileRevalidate, staleIfError }: Lifetimes): number =>
  fresh + Math.max(staleWhileRevalidate, staleIfError);

/** The longest time for which any answer of an endpoint may be stored, in milliseconds. */
export const longestLifetime = (declared: DeclaredLifetimes): number =>
  Math.max(...Object.values(lifetimesByStatus(declared)).map(totalLifetime));

/** The lifetimes of an endpoint by the names that `GET /cache` has for them. */
export type CacheWindows = { fresh: Duration } & Partial<
  Record<"stale" | "staleIfError" | "absent" | "unready", Duration>
>;

/** Renames lifetimes for `GET /cache`. */
export const windowsOf = ({ fresh, staleIfError, ...others }: DeclaredLifetimes): CacheWindows => ({
  fresh,
  stale: others.staleWhileRevalidate,
  staleIfError,
  absent: others.notFoundTtl,
  unready: others.preconditionTtl,
});
