import { setTimeout as sleep } from "node:timers/promises";

/** Waits until the next request may go: `rate` a second, evenly; 0 is as fast as it goes. Throws where `signal` aborts. */
export const rateLimiter = (
  rate: number,
  now: () => number = () => performance.now(),
): ((signal: AbortSignal) => Promise<void>) => {
  const gap = rate > 0 ? 1000 / rate : 0;
  let next = 0;
  return async (signal) => {
    if (gap === 0) return;
    const at = Math.max(now(), next);
    next = at + gap;
    if (at > now()) await sleep(at - now(), undefined, { signal });
  };
};
