import { isInstalled } from "./processes.ts";

export const leftOut = (what: string): void => console.log(`LEFT OUT: ${what}`);

/** What a race needs of the machine, and what its figures say without it. */
export const tellWhatIsMissing = (): void => {
  if (!isInstalled("taskset")) leftOut("taskset is not installed: nothing is pinned to a core, the ratios say less");
  if (!isInstalled("wrk"))
    leftOut("wrk is not installed: a load generator of Node's stands in, the throughputs are its own");
};
