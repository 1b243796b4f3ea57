/** Requests that a caller may send at once: `RATE_LIMIT_BURST`, or what `RATE_LIMIT` allows in ten seconds, rounded down. */
export const burstOf = (settings: { RATE_LIMIT?: number | undefined; RATE_LIMIT_BURST?: number | undefined }): number =>
  settings.RATE_LIMIT_BURST ?? Math.floor(10 * (settings.RATE_LIMIT ?? 1));
