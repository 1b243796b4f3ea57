import type { Command } from "commander";
import type { CommandTools } from "../../tools/runCommand.ts";
import { openCommandLine, runCommand } from "../../tools/runCommand.ts";
import { catalogue } from "../../transforms/catalogue.ts";

/** Runs a command in this process: its exit code, and the lines that it printed and complained of. */
export const runTool = async (
  withOptions: (command: Command, tools: CommandTools) => Command,
  args: string[],
  environment: Record<string, string> = {},
) => {
  const out: string[] = [];
  const errors: string[] = [];
  let code: number | undefined;
  const tools = {
    catalogue,
    environment,
    print: (line: string) => void out.push(line),
    complain: (line: string) => void errors.push(line),
    exit: (given: number) => void (code = given),
    signal: new AbortController().signal,
  };
  const command = openCommandLine("").configureOutput({ writeOut: tools.print, writeErr: tools.complain });
  await runCommand(withOptions(command, tools), args, tools);
  return { code, out, errors };
};
