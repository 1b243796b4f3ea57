import { setTimeout as sleep } from "node:timers/promises";

/** Waits until it is so; rejects where that takes longer than anything here does. */
export const eventually = async (isSo: () => boolean | Promise<boolean>, ms = 30_000): Promise<void> => {
  const until = performance.now() + ms;
  while (!(await isSo())) {
    if (performance.now() > until) throw new Error("it did not come to be");
    await sleep(2);
  }
};
