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
