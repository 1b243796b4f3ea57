import { withTimeout } from "../../../concurrency/withTimeout.ts";

/** Milliseconds between two attempts. */
const ATTEMPT = 50;

/** Tries until it has worked, or else rejects with the last reason after so many milliseconds. */
export const withPatience = async (task: () => Promise<unknown>, ms: number): Promise<void> => {
  const until = performance.now() + ms;
  let why: unknown = new Error("it does not answer");
  for (;;) {
    try {
      if ((await withTimeout(task(), Math.max(1, until - performance.now()))) !== "late") return;
    } catch (error) {
      why = error;
    }
    if (performance.now() >= until) throw why;
    await new Promise((resolve) => setTimeout(resolve, ATTEMPT));
  }
};
