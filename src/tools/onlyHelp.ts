/** Ends a program that takes no options: with its usage if it is asked for help (exit code 0), or if it gets anything else (2). */
export const onlyHelp = (usage: string, args: readonly string[] = process.argv.slice(2)): void => {
  const [first] = args;
  if (first === undefined) return;
  const isHelp = first === "--help" || first === "-h";
  if (isHelp) process.stdout.write(`${usage}\n`);
  else process.stderr.write(`${first}: unknown option; allowed is --help\n`);
  process.exit(isHelp ? 0 : 2);
};
