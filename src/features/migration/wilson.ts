/** Two-sided 95 %. */
const Z = 1.96;

/**
 * The bounds of a share that was observed `good` times in `of` trials (Wilson's score interval); 0 to 1 without trials.
 */
export const wilson = (good: number, of: number): { lower: number; upper: number } => {
  if (of === 0) return { lower: 0, upper: 1 };
  const share = good / of;
  const z2 = Z * Z;
  const middle = share + z2 / (2 * of);
  const spread = Z * Math.sqrt((share * (1 - share) + z2 / (4 * of)) / of);
  const whole = 1 + z2 / of;
  return { lower: Math.max(0, (middle - spread) / whole), upper: Math.min(1, (middle + spread) / whole) };
};
