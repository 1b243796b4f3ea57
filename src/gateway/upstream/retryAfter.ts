const MAX_SECONDS = 3600;
/** Where an upstream says nothing that can be read. */
const DEFAULT_SECONDS = 5;

/**
 * Seconds until a request may be sent again, at least one, by an upstream's `Retry-After`: seconds or an HTTP date.
 * `now`: milliseconds since the epoch.
 */
export const retryAfterOf = (text: string | undefined, now = Date.now()): number => {
  if (text === undefined) return DEFAULT_SECONDS;
  // `Date.parse` takes much more for a date, `-1` among it.
  const isDate = /^[A-Z][a-z]+, .{10,30} GMT$/.test(text);
  const seconds = /^\d+$/.test(text) ? Number(text) : isDate ? Math.ceil((Date.parse(text) - now) / 1000) : Number.NaN;
  return Number.isNaN(seconds) ? DEFAULT_SECONDS : Math.min(MAX_SECONDS, Math.max(1, seconds));
};
