import { isInstalled } from "./processes.ts";

/** Reports a measurement that was left out. */
export const leftOut = (what: string): void => console.log(`LEFT OUT: ${what}`);

/** Reports the tools that are missing, and how that affects the figures. */
export const reportMissingTools = (): void => {
  if (!isInstalled("taskset")) leftOut("taskset is not installed: nothing is pinned to a core, the ratios say less");
  if (!isInstalled("wrk"))
    leftOut("wrk is not installed: a load generator of Node's stands in, the throughputs are its own");
};
