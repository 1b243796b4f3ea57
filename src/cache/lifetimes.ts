import { type Duration, milliseconds } from "./duration.ts";

/** How long answers of an endpoint hold; what is not given is none, or the usual. RFC 5861 for the two stale ones, both counted from the end of fresh. */
export type DeclaredLifetimes = {
  fresh: Duration;
  /** Served while it is asked for anew in the background. */
  stale?: Duration;
  /** Served where legacy fails. */
  staleIfError?: Duration;
  /** 404 and 410. */
  absent?: Duration;
  /** 412: a state that will change soon. */
  unready?: Duration;
  /** What it answers may turn private: it is served stale while it is revalidated for an hour at most, whatever `stale` says. */
  mayTurnPrivate?: true;
};

/** In milliseconds. `mayTurnPrivate`: no client can have it served stale for longer (`max-stale`). */
export type Lifetimes = { fresh: number; stale: number; staleIfError: number; mayTurnPrivate?: true };

/** The windows of an answer, by its status; none where it is not to be kept. */
export type LifetimesOf = (status: number) => Lifetimes | undefined;

const only = (fresh: Duration): Lifetimes => ({ fresh: milliseconds(fresh), stale: 0, staleIfError: 0 });

/** Of what may turn private, the longest time for which it is served stale while it is revalidated. */
const PRIVATE_STALE: Duration = "1h";
/** What belongs to a key is fresh for so many milliseconds at most: a right may be withdrawn behind the gateway. */
const OWNED_FRESH = 60_000;

/** The windows alone and as they may be, with what stands for what is not declared. */
export const withDefaults = (declared: DeclaredLifetimes): Required<Omit<DeclaredLifetimes, "mayTurnPrivate">> => {
  const { fresh, stale = "0s", staleIfError = "0s", absent = "60s", unready = "15s", mayTurnPrivate } = declared;
  const isTooLong = mayTurnPrivate === true && milliseconds(stale) > milliseconds(PRIVATE_STALE);
  return { fresh, stale: isTooLong ? PRIVATE_STALE : stale, staleIfError, absent, unready };
};

const keptBy = (declared: DeclaredLifetimes): Record<number, Lifetimes> => {
  const { fresh, stale, staleIfError, absent, unready } = withDefaults(declared);
  const found: Lifetimes = {
    fresh: milliseconds(fresh),
    stale: milliseconds(stale),
    staleIfError: milliseconds(staleIfError),
    ...(declared.mayTurnPrivate ? { mayTurnPrivate: true } : {}),
  };
  const none = only(absent);
  return { 200: found, 404: none, 410: none, 412: only(unready) };
};

export const lifetimesBy = (declared: DeclaredLifetimes): LifetimesOf => {
  const kept = keptBy(declared);
  return (status) => kept[status];
};

/** The windows of an answer that was fetched with a key, and is served to that key alone: never stale. */
export const ownedLifetimes = ({ fresh }: Lifetimes): Lifetimes => ({
  fresh: Math.min(fresh, OWNED_FRESH),
  stale: 0,
  staleIfError: 0,
});

/** The same, but nothing outlives its freshness. */
export const freshOnly =
  (lifetimesOf: LifetimesOf): LifetimesOf =>
  (status) => {
    const windows = lifetimesOf(status);
    return windows && { ...windows, stale: 0, staleIfError: 0 };
  };

/** From the first moment to the last at which something kept may be served. */
export const totalLifetime = ({ fresh, stale, staleIfError }: Lifetimes): number =>
  fresh + Math.max(stale, staleIfError);

/** The longest time that any answer of an endpoint may be kept, in milliseconds. */
export const longestLifetime = (declared: DeclaredLifetimes): number =>
  Math.max(...Object.values(keptBy(declared)).map(totalLifetime));
