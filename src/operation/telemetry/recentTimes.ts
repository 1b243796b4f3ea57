/** The latest durations of something. */
export type RecentTimes = ReturnType<typeof openRecentTimes>;

/** The number of the latest durations that a quantile covers. */
export const RECENT_TIMES = 200;

/** Opens an empty list. Adding to it allocates nothing. */
export const openRecentTimes = () => {
  const times = new Float64Array(RECENT_TIMES);
  let count = 0;
  return {
    /** Adds a duration in milliseconds. */
    add(ms: number): void {
      times[count++ % RECENT_TIMES] = ms;
    },
    /** All of them, in no order. */
    values: (): number[] => Array.from(times.subarray(0, count)),
    /** The quantile at a share (0-1), in milliseconds; `undefined` without any duration. */
    quantile(share: number): number | undefined {
      const sorted = times.slice(0, count).toSorted();
      return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    },
  };
};
