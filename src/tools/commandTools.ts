import type { Catalogue } from "../serve/prepared.ts";

/** What a command has of the process. An error that it throws is printed, and the exit code is 2. */
export type CommandTools = {
  catalogue: Catalogue;
  environment: Readonly<Record<string, string | undefined>>;
  print: (line: string) => void;
  complain: (line: string) => void;
  exit: (code: 0 | 1 | 2) => void;
  /** Aborted where the command has to end early. */
  signal: AbortSignal;
};
