import { setTimeout as sleep } from "node:timers/promises";

/** Returns a function that resolves when the next of `rate` requests a second may go out; 0: no limit. That promise rejects when `signal` aborts. */
export const openRateLimiter = (rate: number) => {
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
