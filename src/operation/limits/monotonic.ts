/** Milliseconds by which the clocks of two machines may differ. */
const SKEW = 60_000;

/** A clock in milliseconds that never goes back. Its moments can be stored for another process. */
export const monotonic = {
  /** Looked up at each call, so that a test can replace it. */
  now: (): number => performance.now(),
  /** A moment in milliseconds since the epoch. */
  toStored: (moment: number): number => Math.round(Date.now() - performance.now() + moment),
  /**
   * A stored moment. `undefined` for a moment in the future: the computer's clock was set back since, so its age is not
   * known. A moment that is less than a minute ahead, by another machine's clock, is now.
   */
  fromStored(moment: number): number | undefined {
    const age = Date.now() - moment;
    return age < -SKEW ? undefined : performance.now() - Math.max(0, age);
  },
};
