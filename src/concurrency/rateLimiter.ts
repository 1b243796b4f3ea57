import { setTimeout as sleep } from "node:timers/promises";

/** How often a rate limiter lets requests out. */
export type RateLimiterSettings = {
  /** Requests a second; 0: no limit. */
  rate: number;
};

/** Returns a function that resolves when the next request may go out. It rejects when `signal` aborts. */
export const openRateLimiter = ({ rate }: RateLimiterSettings) => {
  const interval = rate > 0 ? 1000 / rate : 0;
  let next = -Infinity;
  return async (signal: AbortSignal): Promise<void> => {
    const at = Math.max(next, performance.now());
    next = at + interval;
    const wait = at - performance.now();
    if (wait > 0) await sleep(wait, undefined, { signal });
    signal.throwIfAborted();
  };
};
