import type { Command } from "commander";
import { openCommandLine, runCommand } from "../../tools/runCommand.ts";

/** Runs a program of `test/`. Its exit code is 1 where `run` gives false, and 2 after an error or a wrong option. */
export const runCheck = async (
  name: string,
  withOptions: (command: Command) => Command,
  run: (options: never) => Promise<boolean>,
): Promise<void> => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(2));
  const command = withOptions(openCommandLine(`npm run ${name} --`)).action(async (options: object) => {
    process.exitCode = (await run(options as never)) ? 0 : 1;
  });
  await runCommand(command, process.argv.slice(2), {
    complain: (line) => void process.stderr.write(`${line}\n`),
    exit: (code) => (process.exitCode = code),
  });
  // Connections that are left open do not hold it up.
  process.exit();
};
