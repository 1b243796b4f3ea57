import { setTimeout as sleep } from "node:timers/promises";

type Wait = (ms: number, value: undefined, options: { signal: AbortSignal }) => Promise<unknown>;

/**
 * Returns a function that resolves when the next of `rate` requests a second may go out; 0: no limit. That promise
 * rejects when `signal` aborts. `wait`: waits for this number of milliseconds; a test replaces it.
 */
export const openRateLimiter = (rate: number, wait: Wait = sleep) => {
  const interval = rate > 0 ? 1000 / rate : 0;
  let next = -Infinity;
  return async (signal: AbortSignal): Promise<void> => {
    const at = Math.max(next, performance.now());
    next = at + interval;
    const ms = at - performance.now();
    if (ms > 0) await wait(ms, undefined, { signal });
    signal.throwIfAborted();
  };
};
