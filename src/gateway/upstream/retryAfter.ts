const MAX_SECONDS = 3600;
/** The default if an upstream sends no valid value. */
const DEFAULT_SECONDS = 5;

/**
 * Reads an upstream's `Retry-After` (seconds or an HTTP date): the seconds until a request may be sent again, at least
 * 1. `now`: milliseconds since the epoch.
 */
export const retryAfterOf = (text: string | undefined, now = Date.now()): number => {
  if (text === undefined) return DEFAULT_SECONDS;
  // `Date.parse` alone would accept much more as a date, for example `-1`.
  const isDate = /^[A-Z][a-z]+, .{10,30} GMT$/.test(text);
  const seconds = /^\d+$/.test(text) ? Number(text) : isDate ? Math.ceil((Date.parse(text) - now) / 1000) : Number.NaN;
  return Number.isNaN(seconds) ? DEFAULT_SECONDS : Math.min(MAX_SECONDS, Math.max(1, seconds));
};
