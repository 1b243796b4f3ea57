/** A clock in milliseconds that never goes back. It is looked up at each call, so that a test can replace it. */
export const monotonic = { now: (): number => performance.now() };
