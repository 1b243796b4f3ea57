/** Milliseconds that only grow, whatever is done to the clock; looked up each time, so that a test can stop it. */
export const monotonic = { now: (): number => performance.now() };
