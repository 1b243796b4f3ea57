#!/usr/bin/env node
// oxlint-disable-next-line import/no-unassigned-import -- it ends the process where Node is too old
import "./nodeVersion.cjs";
// Imported as a whole: an older Node lacks some exports, and would fail with that before the line above is run.
import * as nodeModule from "node:module";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import type { Command } from "commander";
import about from "../package.json" with { type: "json" };

// This comes before anything else is loaded: the next start then uses the code that this start has compiled.
nodeModule.enableCompileCache();
/** `.ts` in a clone; `.js` in the package, which `npm run pack` compiles. */
const extension = extname(import.meta.url);
const isClone = extension === ".ts";
const root = new URL("..", import.meta.url).href;
const isOurs = (url: string): boolean => url.startsWith(root) && !url.startsWith(`${root}node_modules/`);
nodeModule.registerHooks({
  resolve(specifier, context, next) {
    const from = context.parentURL ?? "";
    // Our imports name files exactly: resolving them and their format takes longer than running them.
    if (specifier.startsWith(".") && specifier.endsWith(extension) && isOurs(from)) {
      const format = isClone ? "module-typescript" : "module";
      return { url: new URL(specifier, from).href, format, shortCircuit: true };
    }
    // zod's messages in fifty other languages: 15 ms and 5 MB.
    if (specifier === "../locales/index.js" && from.includes("/node_modules/zod/"))
      return { url: "data:text/javascript,", format: "module", shortCircuit: true };
    return next(specifier, context);
  },
});

const interruption = new AbortController();
const tools = {
  environment: process.env,
  print: console.log,
  complain: console.error,
  signal: interruption.signal,
  exit(code: 0 | 1 | 2) {
    process.exitCode = code;
    // After an error the sample legacy may still run, or a request wait for a server that never answers.
    if (code === 2) process.exit();
  },
};

type LoadCommand = (command: Command) => Promise<unknown>;

/** A command that writes files of a clone. The package has neither those files nor the command's modules. */
const inClone = (load: LoadCommand): LoadCommand =>
  isClone
    ? load
    : async (command) =>
        command
          .allowUnknownOption()
          .allowExcessArguments()
          .action(() => {
            throw new Error(
              `${command.name()}: the package does not have this command; run it in a clone, after npm ci`,
            );
          });

/** The commands: a description of each, and what loads its options and action. A start loads only what serves. */
const commands: Record<string, [about: string, load: LoadCommand]> = {
  serve: [
    "run the gateway, as without a command; LEGACY_URL=sample starts a sample legacy beside it",
    async (command) => (await import("./serveCommand.ts")).serveCommand(command),
  ],
  check: [
    "validate the configuration, ask legacy, print what was found",
    async (command) => (await import("./serveCommand.ts")).checkCommand(command),
  ],
  compare: [
    "compare legacy's answers with the gateway's, or with a candidate's, and explain every difference",
    async (command) => {
      // A long run mostly waits for servers: memory matters more than speed.
      for (const flag of ["heap-growing-percent=30", "max-semi-space-size=1", "no-maglev", "optimize-for-size"])
        setFlagsFromString(`--${flag}`);
      // The first signal ends the run in good order, the second at once.
      for (const signal of ["SIGINT", "SIGTERM"] as const)
        process.once(signal, () => interruption.abort(new Error("interrupted: there is no report")));
      const [{ catalogue }, { compareCommand }] = await Promise.all([
        import("../transforms/catalogue.ts"),
        import("../tools/compare/command.ts"),
      ]);
      compareCommand(command, { ...tools, catalogue });
    },
  ],
  record: [
    "record what a legacy server answers as fixtures; in a clone",
    inClone(async (command) => {
      const [{ catalogue }, { recordCommand }, { legacyHandlers }, { serveHandlers }] = await Promise.all([
        import("../transforms/catalogue.ts"),
        import("../tools/record/command.ts"),
        import("../fixtures/legacyHandlers.ts"),
        import("../fixtures/serveHandlers.ts"),
      ]);
      const folder = fileURLToPath(new URL("../fixtures", import.meta.url));
      const openReplay = async (exchanges: Parameters<typeof legacyHandlers>[0]) =>
        serveHandlers(...legacyHandlers(exchanges));
      recordCommand(command, { ...tools, catalogue, folder, openReplay });
    }),
  ],
  kit: [
    "write the package of fixtures for authors of clients into kit/; in a clone",
    inClone(async (command) =>
      command.action(async () => console.log((await import("../tools/kit/buildKit.ts")).buildKit())),
    ),
  ],
  sample: [
    "run the sample legacy alone",
    async (command) => (await import("../tools/sampleLegacy/command.ts")).sampleCommand(command, tools),
  ],
  docs: [
    "write the tables of docs/ again, or print a document; in a clone",
    inClone(async (command) => {
      const [{ docsCommand }, { fragments }, { endpoints }, { allEvents }] = await Promise.all([
        import("../tools/docs/command.ts"),
        import("../features/settings.ts"),
        import("../transforms/index.ts"),
        import("../features/index.ts"),
      ]);
      docsCommand(command, { version: about.version, endpoints, fragments, events: await allEvents() });
    }),
  ],
};

/** Reads the command line, and runs the command that it names. Options alone are those of `serve`. */
const runCommandLine = async (args: readonly string[], first: string): Promise<void> => {
  const { openCommandLine, runCommand } = await import("../tools/runCommand.ts");
  const program = openCommandLine("catalog-gateway")
    .description("Serves the typed catalogue interface over a legacy server, and passes everything else through to it.")
    .version(`${about.name} ${about.version}`, "-V, --version")
    .helpCommand(false);
  if (first === "--help" || first === "-h") {
    const [{ fragments }, { settingsHelp }] = await Promise.all([
      import("../features/settings.ts"),
      import("../tools/settingsHelp.ts"),
    ]);
    program.addHelpText("after", settingsHelp(fragments));
  }
  for (const [name, [what, load]] of Object.entries(commands)) {
    const isDefault = name === "serve" && first.startsWith("-");
    const command = program.command(name, { isDefault }).description(what);
    if (isDefault || name === first) await load(command);
  }
  await runCommand(program, args, tools);
  nodeModule.flushCompileCache();
};

// Else SIGUSR1 would open Node's inspector, which shows keys and runs code. On the command line, `--disable-sigusr1`
// does the same from the first moment.
process.on("SIGUSR1", () => undefined);
// A reader that leaves (`npm start -- --check | head -1`) ends neither the check nor the gateway.
process.stdout.on("error", () => undefined);
const args = process.argv.slice(2);
const [first] = args;
// A plain start does without the reading of options, which takes 25 ms to load.
await (first === undefined ? (await import("./serveCommand.ts")).serveGateway() : runCommandLine(args, first));
