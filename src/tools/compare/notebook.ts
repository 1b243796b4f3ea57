import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TallyState } from "../../compare/tally.ts";
import type { DoneState } from "./run.ts";

/** How far a run has come. */
type RunState = { tally: TallyState; done: DoneState };

/** Where a run notes how far it has come; `fingerprint` tells whether it is the same run. */
type Notebook = {
  /** What an interrupted run of the same questions left behind. */
  read(): RunState | undefined;
  write(state: RunState): void;
  clear(): void;
};

export const openNotebook = (directory: string, fingerprint: string, scrub: (text: string) => string): Notebook => {
  const file = join(directory, "interrupted.json");
  return {
    read() {
      try {
        const kept = JSON.parse(readFileSync(file, "utf8")) as RunState & { fingerprint?: string };
        return kept.fingerprint === fingerprint ? kept : undefined;
      } catch (error) {
        const isExpected = error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT";
        if (isExpected) return undefined;
        throw error;
      }
    },
    write(state) {
      mkdirSync(directory, { recursive: true });
      // Written beside and renamed: whatever happens, the file is whole.
      writeFileSync(`${file}.new`, scrub(JSON.stringify({ fingerprint, ...state })));
      renameSync(`${file}.new`, file);
    },
    clear: () => rmSync(file, { force: true }),
  };
};
