/** Bytes of compared answers a second. */
const MAX_BYTES = 16 * 1024 ** 2;

/** Opens the budget of comparisons: `rate` may start in a second, and as many run at a time. */
export const openMirrorBudget = (rate: number) => {
  let tokens = rate;
  /**
   * Bytes. Sizes are known only afterwards, so it may fall below 0; it then blocks later comparisons until it recovers.
   */
  let credit = MAX_BYTES;
  let filledAt = performance.now();
  let shed = 0;

  const fill = (): void => {
    const now = performance.now();
    const seconds = (now - filledAt) / 1000;
    filledAt = now;
    tokens = Math.min(rate, tokens + seconds * rate);
    credit = Math.min(MAX_BYTES, credit + seconds * MAX_BYTES);
  };

  return {
    /** True if one more comparison may start while `running` others run. If not, it is left out, not queued. */
    enter(running: number): boolean {
      fill();
      const isFree = running < rate && tokens >= 1 && credit > 0;
      if (isFree) tokens--;
      else shed++;
      return isFree;
    },
    spend(bytes: number): void {
      credit -= bytes;
    },
    /** The comparisons that were left out. */
    shed: () => shed,
  };
};
