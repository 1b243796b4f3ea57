/** The last values of a sequence, up to a bound. */
type Recent = { add(value: number): void; values(): number[]; clear(): void };

/** Opens an empty sequence that stores the last `most` values. */
export const openRecent = (most: number): Recent => {
  const ring = new Float64Array(most);
  let count = 0;
  return {
    add(value) {
      ring[count % most] = value;
      count++;
    },
    values: () => [...ring.subarray(0, Math.min(count, most))],
    clear: () => void (count = 0),
  };
};

/** The quantile at a share (0-1); `undefined` without values. */
export const quantile = (values: readonly number[], share: number): number | undefined => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
};
