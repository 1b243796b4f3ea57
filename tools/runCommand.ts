import { Command, CommanderError } from "commander";
import type { Catalogue } from "../src/gateway/index.ts";
import { plainText } from "./plainText.ts";

/** The tools of a command. An error that the command throws is printed, and the exit code is 2. */
export type CommandTools = {
  catalogue: Catalogue;
  environment: Readonly<Record<string, string | undefined>>;
  print: (line: string) => void;
  complain: (line: string) => void;
  exit: (code: 0 | 1 | 2) => void;
  /** Aborts when the command has to end early. */
  signal: AbortSignal;
};

/** A command line with this name, for `runCommand`. */
export const openCommandLine = (name: string): Command =>
  new Command(name).exitOverride().showHelpAfterError("--help shows what is allowed");

/** Runs a command line. An error is printed, and the exit code is then 2. Never rejects. */
export const runCommand = async (
  command: Command,
  args: readonly string[],
  { complain, exit }: Pick<CommandTools, "complain" | "exit">,
): Promise<void> => {
  try {
    await command.parseAsync(args, { from: "user" });
  } catch (error) {
    // Commander has already printed its own errors, and the text of --help.
    if (!(error instanceof CommanderError))
      for (const line of (error as Error).message.split("\n")) complain(plainText(line));
    exit(error instanceof CommanderError && error.exitCode === 0 ? 0 : 2);
  }
};
