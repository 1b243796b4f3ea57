import { LRUCache } from "lru-cache";

/** After a pause, a caller may send as many requests at once as it may in this many milliseconds. */
export const BURST_MS = 10_000;

/** Callers whose buckets are remembered; the caller seen longest ago is evicted first, and its bucket is full again. */
const MAX_CALLERS = 100_000;

/**
 * Opens a token bucket for each caller, full at first. Each is one number, the time at which it is full again (GCRA,
 * the generic cell rate algorithm): taking a token puts that off by the time for one token.
 */
export const openBuckets = () => {
  const fullAt = new LRUCache<string, number>({ max: MAX_CALLERS });
  return {
    /** Takes one token; gives 0, or the milliseconds until the next token. `rate`: tokens that it gains a second. */
    take(caller: string, now: number, rate: number): number {
      const next = Math.max(fullAt.get(caller) ?? now, now) + 1000 / rate;
      const wait = next - now - BURST_MS;
      // Times are fractions: a wait of less than a microsecond is a rounding error.
      if (wait > 0.001) return wait;
      fullAt.set(caller, next);
      return 0;
    },
    size: (): number => fullAt.size,
  };
};
