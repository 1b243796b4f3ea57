import { existsSync, readFileSync } from "node:fs";
import { StatementSync } from "node:sqlite";

// `--import=.../troubledDisk.ts?PATH` loads this into each thread of a process. While a named pipe is at PATH, a
// change of the database waits for it in a call to the system, as on a disk that hangs. Where PATH is a file that
// says "end", the thread ends.
const path = decodeURIComponent(new URL(import.meta.url).search.slice(1));
// oxlint-disable-next-line typescript/unbound-method -- it is called with its object
const run: (this: StatementSync, ...given: string[]) => ReturnType<StatementSync["run"]> = StatementSync.prototype.run;
StatementSync.prototype.run = function changed(this: StatementSync, ...given: unknown[]) {
  if (existsSync(path) && readFileSync(path, "utf8") === "end") process.exit();
  return run.apply(this, given as string[]);
};
