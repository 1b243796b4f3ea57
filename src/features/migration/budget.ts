/** Bounds comparisons: how many run at a time and start in a second, and bytes a second. Comparisons beyond them are shed, not queued. */
export type Budget = {
  /** True if one more comparison may start. Its caller then calls `leave` once. */
  enter(): boolean;
  /** A comparison has ended, after reading so many bytes. */
  leave(bytes: number): void;
  /** The number of comparisons that were shed. */
  shed(): number;
};

/** `concurrency`: comparisons at a time. `rate`: comparisons a second. `bytes`: bytes a second. */
export type BudgetSettings = { concurrency: number; rate: number; bytes: number };

/** Opens a budget with full allowances. `now` gives milliseconds. */
export const openBudget = (
  { concurrency, rate, bytes }: BudgetSettings,
  now: () => number = () => performance.now(),
): Budget => {
  let inFlight = 0;
  let shed = 0;
  let tokens = rate;
  // The size is known only afterwards, so the credit may go negative; it then blocks later comparisons until it recovers.
  let credit = bytes;
  let filledAt = now();
  const fill = () => {
    const seconds = (now() - filledAt) / 1000;
    filledAt = now();
    tokens = Math.min(rate, tokens + seconds * rate);
    credit = Math.min(bytes, credit + seconds * bytes);
  };
  return {
    enter() {
      fill();
      if (inFlight >= concurrency || tokens < 1 || credit <= 0) {
        shed++;
        return false;
      }
      tokens--;
      inFlight++;
      return true;
    },
    leave(taken) {
      inFlight--;
      credit -= taken;
    },
    shed: () => shed,
  };
};
