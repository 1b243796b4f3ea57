/** `"90s"`, `"10m"`, `"24h"`, `"7d"` */
export type Duration = `${number}${"s" | "m" | "h" | "d"}`;

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** True if a text is a duration of at most six digits. */
export const isDuration = (text: string): text is Duration => /^\d{1,6}[smhd]$/.test(text);

/** `"10m"` -> 600000 */
export const milliseconds = (duration: Duration): number =>
  Number(duration.slice(0, -1)) * units[duration.slice(-1) as keyof typeof units];

/**
 * The lifetimes of an endpoint's answers, by definition or by the setting `CACHE_LIFETIMES`. `staleWhileRevalidate` and
 * `staleIfError` (RFC 5861) both count from the end of `fresh`; the default of both is 0.
 */
export type DeclaredLifetimes = {
  fresh: Duration;
  /** Served while the gateway fetches the answer again in the background. */
  staleWhileRevalidate?: Duration;
  /** Served if legacy fails. */
  staleIfError?: Duration;
  /** For 404 and 410; default 60 s. */
  notFoundTtl?: Duration;
  /** For 412, a state that will change soon, and the limit for a document that is not complete yet; default 15 s. */
  preconditionTtl?: Duration;
  /** The resource may turn private: `staleWhileRevalidate` is an hour at most, whatever is declared. */
  mayTurnPrivate?: true;
};
