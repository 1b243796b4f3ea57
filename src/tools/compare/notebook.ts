import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TallyState } from "../../compare/tally.ts";
import type { DoneState } from "./run.ts";

/** How far a run has come. */
type RunState = { tally: TallyState; done: DoneState };

/** Where a run notes its state, so that an interrupted one can be continued. */
type Notebook = {
  /** The state of an interrupted run with the same fingerprint. */
  read(): RunState | undefined;
  write(state: RunState): void;
  clear(): void;
};

/** Opens the notebook in a directory. `scrub` takes secrets out of what is written. */
export const openNotebook = (directory: string, fingerprint: string, scrub: (text: string) => string): Notebook => {
  const file = join(directory, "interrupted.json");
  return {
    read() {
      try {
        const noted = JSON.parse(readFileSync(file, "utf8")) as RunState & { fingerprint?: string };
        return noted.fingerprint === fingerprint ? noted : undefined;
      } catch (error) {
        const isExpected = error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT";
        if (isExpected) return undefined;
        throw error;
      }
    },
    write(state) {
      mkdirSync(directory, { recursive: true });
      // Written to another file and renamed, so that the file is always whole.
      writeFileSync(`${file}.new`, scrub(JSON.stringify({ fingerprint, ...state })));
      renameSync(`${file}.new`, file);
    },
    clear: () => rmSync(file, { force: true }),
  };
};
