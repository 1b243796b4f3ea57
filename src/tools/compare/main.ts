import { enableCompileCache, flushCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";

// Set before anything else is loaded. Compiled code is cached; and since a long run mostly waits for servers, memory matters more than speed.
enableCompileCache();
for (const flag of [
  "heap-growing-percent=30",
  "max-semi-space-size=1",
  "no-concurrent-recompilation",
  "no-maglev",
  "optimize-for-size",
])
  setFlagsFromString(`--${flag}`);

const [{ Command }, { catalogue }, { compareCommand }, { runCommand }] = await Promise.all([
  import("commander"),
  import("../../../transforms/catalogue.ts"),
  import("./command.ts"),
  import("../runCommand.ts"),
]);
// The first signal ends a command in good order, the second at once.
const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => interruption.abort(new Error("interrupted: there is no report")));
const tools = {
  signal: interruption.signal,
  catalogue,
  environment: process.env,
  print: console.log,
  complain: console.error,
  exit(code: number) {
    process.exitCode = code;
    // After an error the sample legacy may still run, or a server be asked that never answers.
    if (code === 2) process.exit();
  },
};
await runCommand(compareCommand(new Command("npm run compare --"), tools), process.argv.slice(2), tools);
flushCompileCache();
