/** Resolves after so many milliseconds. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Polls a condition for at most so many milliseconds, and tells whether it came to hold. */
export const holdsWithin = async (holds: () => boolean | Promise<boolean>, ms: number): Promise<boolean> => {
  const end = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > end) return false;
    await sleep(5);
  }
  return true;
};

/** Waits until a condition holds; throws after two minutes. */
export const until = async (holds: () => boolean | Promise<boolean>, ms = 120_000): Promise<void> => {
  if (!(await holdsWithin(holds, ms))) throw new Error(`after ${ms} ms this still does not hold: ${String(holds)}`);
};
