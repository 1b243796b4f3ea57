import { setTimeout as sleep } from "node:timers/promises";

export { sleep };

/** Polls a condition for at most `ms` milliseconds, and returns true if it came to hold. */
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

/**
 * Waits for 50 turns of the event loop. Where client, gateway and legacy are in this process, all that was under way
 * has come to its end or to where it waits, however busy the machine is.
 */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await sleep(1);
};
