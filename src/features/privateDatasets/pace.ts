import { setTimeout as sleep } from "node:timers/promises";

/** Comes back when the next request may go out; false where there will be none. */
export type Pace = () => Promise<boolean>;

export type PaceSettings = {
  /** Requests a second at most. */
  rate: number;
  /** So many at once after a rest. */
  burst?: number;
  /** Callers are being asked for. */
  isBusy: () => boolean;
  signal: AbortSignal;
};

/** Milliseconds that callers go first at most, and between two looks whether they are through. */
const YIELD = 1000;
const LOOK = 20;
/** So late a timer may be, in milliseconds, and it is made up for. */
const LATE = 10;

/** So many a second, after the callers: but those who never pause do not stop it for good. */
export const openPace = ({ rate, burst = 0, isBusy, signal }: PaceSettings): Pace => {
  const interval = 1000 / rate;
  const madeUpFor = Math.max(LATE, burst * interval);
  let next = -Infinity;
  return async () => {
    const wait = next - performance.now();
    try {
      if (wait > 0) await sleep(wait, undefined, { signal, ref: false });
      const until = performance.now() + YIELD;
      while (isBusy() && performance.now() < until) await sleep(LOOK, undefined, { signal, ref: false });
    } catch {
      // Only by its signal.
      return false;
    }
    next = Math.max(next, performance.now() - madeUpFor) + interval;
    return !signal.aborted;
  };
};
