import { withTimeout } from "../../src/operation/index.ts";

/**
 * While callers use legacy: milliseconds from one request to the next, and the share of the connections
 * at which the scan waits.
 */
const SPACING = 100;
const BUSY_SHARE = 1 / 4;
/** Milliseconds after which a scan that waits for callers looks again. */
const LOOK_AGAIN = SPACING / 10;

/**
 * Milliseconds that the scan waits before it checks again if it may send a request, after it has waited `waited` ms;
 * 0: it may. `share`: the share of the connections that callers use. It does not wait while they use none, and keeps
 * waiting while they use many.
 */
export const delayOf = (share: number, waited: number): number => {
  if (share === 0) return 0;
  if (waited < SPACING) return Math.max(SPACING - waited, LOOK_AGAIN);
  return share < BUSY_SHARE ? 0 : LOOK_AGAIN;
};

/** A sleep that can be ended early. */
export const openSleep = (signal: AbortSignal) => {
  let woken = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => woken.resolve());
  return {
    /** Sleeps at most `ms` milliseconds. */
    async begin(ms: number): Promise<void> {
      woken = Promise.withResolvers();
      if (!signal.aborted) await withTimeout(woken.promise, ms);
    },
    end: (): void => woken.resolve(),
  };
};
