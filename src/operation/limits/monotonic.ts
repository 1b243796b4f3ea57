/** A clock in milliseconds that never goes back. It is looked up at each call, so that a test can replace it. */
export const monotonic = { now: (): number => performance.now() };

/** Milliseconds by which the clocks of two machines may differ. */
const SKEW = 60_000;

/** A moment on the clock of `performance.now()`, as it is stored for another process: milliseconds since the epoch. */
export const toStored = (moment: number): number => Math.round(Date.now() - performance.now() + moment);

/**
 * A stored moment on the clock of `performance.now()`. `undefined` for one in the future: the clock was set back since,
 * so its age is not known. One that is less than a minute ahead, by another machine's clock, is now.
 */
export const fromStored = (moment: number): number | undefined => {
  const age = Date.now() - moment;
  return age < -SKEW ? undefined : performance.now() - Math.max(0, age);
};
