/** Durations, counted by bucket; plain data. Each bucket is a tenth wider than the one before. */
export type Latencies = { buckets: Record<number, number>; total: number };

const GROWTH = Math.log(1.1);
/** The buckets of a hundredth of a millisecond and of an hour. */
const [FIRST, LAST] = [Math.round(Math.log(0.01) / GROWTH), Math.round(Math.log(3_600_000) / GROWTH)];

/** No durations. */
export const noLatencies = (): Latencies => ({ buckets: {}, total: 0 });

/** Counts one duration, in milliseconds. */
export const addLatency = (latencies: Latencies, ms: number): void => {
  const bucket = Math.min(LAST, Math.max(FIRST, Math.round(Math.log(ms) / GROWTH)));
  latencies.buckets[bucket] = (latencies.buckets[bucket] ?? 0) + 1;
  latencies.total += ms;
};

/** The duration, in milliseconds, that this share (0-1) of them does not exceed, to within 5 %. `undefined`: there is none. */
export const latencyQuantile = ({ buckets }: Latencies, share: number): number | undefined => {
  const counted = Object.entries(buckets)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .toSorted(([a], [b]) => a - b);
  let left = Math.ceil(share * counted.reduce((sum, [, count]) => sum + count, 0));
  for (const [bucket, count] of counted) if ((left -= count) <= 0) return Math.exp(bucket * GROWTH);
  return undefined;
};
