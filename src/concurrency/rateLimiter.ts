import { setTimeout as sleep } from "node:timers/promises";

/** How often a rate limiter lets requests out. */
export type RateLimiterSettings = {
  /** Requests a second; 0: no limit. */
  rate: number;
  /** Milliseconds of unused time that may be made up for (default: none). */
  slack?: number;
  /** Whether more important requests are on their way: they go first, for a second at most. */
  isBusy?: () => boolean;
};

/** Milliseconds that a request gives way at most, and between two checks whether it still has to. */
const MAX_YIELD = 1000;
const CHECK_EVERY = 20;

/** Returns a function that resolves when the next request may go out. It rejects when `signal` aborts. */
export const openRateLimiter = ({ rate, slack = 0, isBusy = () => false }: RateLimiterSettings) => {
  const interval = rate > 0 ? 1000 / rate : 0;
  let next = -Infinity;
  return async (signal: AbortSignal): Promise<void> => {
    const at = Math.max(next, performance.now() - slack);
    next = at + interval;
    const wait = at - performance.now();
    if (wait > 0) await sleep(wait, undefined, { signal });
    const until = performance.now() + MAX_YIELD;
    while (isBusy() && performance.now() < until) await sleep(CHECK_EVERY, undefined, { signal });
    signal.throwIfAborted();
  };
};
