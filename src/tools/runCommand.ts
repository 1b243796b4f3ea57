import { Command, CommanderError } from "commander";

/** A command line of this name, whose commands end as `runCommand` says. */
export const openCommandLine = (name: string): Command =>
  new Command(name).exitOverride().showHelpAfterError("--help shows what is allowed");

/** Runs a command line. Errors are printed; the exit code is then 2, whatever was wrong. */
export const runCommand = async (
  command: Command,
  args: readonly string[],
  { complain, exit }: { complain: (line: string) => void; exit: (code: 0 | 2) => void },
): Promise<void> => {
  try {
    await command.parseAsync(args, { from: "user" });
  } catch (error) {
    // Commander has printed its own errors, and what --help asks for.
    if (!(error instanceof CommanderError)) complain((error as Error).message);
    exit(error instanceof CommanderError && error.exitCode === 0 ? 0 : 2);
  }
};
