import { LRUCache } from "lru-cache";

/** How many tokens (requests) a second a bucket gains, and how many it holds. */
export type BucketSize = { rate: number; burst: number };

/** A token bucket for each caller, in this process. */
export type Buckets = {
  /** Takes one token; gives 0, or the milliseconds until there is one. */
  take(caller: string, now: number): number;
  has(caller: string): boolean;
  remove(caller: string): void;
  readonly size: number;
};

/** Callers whose buckets are remembered; the one seen longest ago is forgotten first, and its bucket is full again. */
const MAX_CALLERS = 50_000;

/**
 * Opens full buckets. Each is one number, the time at which it is full again (GCRA, the generic cell rate algorithm): a token taken puts
 * that off by the time for one, and there is a token while it lies no further off than a burst.
 */
export const openBuckets = ({ rate, burst }: BucketSize, max = MAX_CALLERS): Buckets => {
  const interval = 1000 / rate;
  const fullAt = new LRUCache<string, number>({ max });
  return {
    take(caller, now) {
      const next = Math.max(fullAt.get(caller) ?? now, now) + interval;
      const wait = next - now - burst * interval;
      // Times are fractions: what is less than a microsecond is not there.
      if (wait > 0.001) return wait;
      fullAt.set(caller, next);
      return 0;
    },
    has: (caller) => fullAt.has(caller),
    remove: (caller) => void fullAt.delete(caller),
    get size() {
      return fullAt.size;
    },
  };
};
