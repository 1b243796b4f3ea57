import { enableCompileCache, flushCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";
import type { CompareOptions } from "./options.ts";

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

const { catalogue } = await import("../../../transforms/catalogue.ts");
const { readCompareOptions: readOptions, compareUsage: usage } = await import("./options.ts");

const fail = (lines: string[]) => {
  for (const line of lines) console.error(line);
  process.exitCode = 2;
};

/** The first signal ends the run in good order, the second at once. */
const interruption = (): AbortSignal => {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(2);
      controller.abort();
    });
  return controller.signal;
};

const startLegacy = async (url: string | undefined) => {
  if (url !== undefined) return { url, close: async () => undefined };
  const { startSampleLegacy } = await import("../sampleLegacy/startSampleLegacy.ts");
  return startSampleLegacy();
};

const compare = async (options: CompareOptions): Promise<void> => {
  const { prepareRun: prepare } = await import("./prepare.ts");
  const prepared = prepare(options, process.env, catalogue);
  if ("errors" in prepared) return fail(prepared.errors);
  const { scrub } = prepared;
  const legacy = await startLegacy(prepared.settings.LEGACY_URL);
  const { performRun: perform } = await import("./perform.ts");
  const performed = await perform(options, { ...prepared, legacyUrl: legacy.url }, catalogue, interruption());
  await legacy.close();
  if ("interruptedAfter" in performed)
    return fail([`interrupted after ${performed.interruptedAfter} questions; the same command goes on from there`]);
  const { report, clear } = performed;
  const { terminalReport } = await import("./report/terminalReport.ts");
  const { writeReports } = await import("./report/writeReports.ts");
  const { columns, isTTY } = process.stdout;
  const lines = terminalReport(report, isTTY ? columns : 100, isTTY && !process.env["NO_COLOR"]);
  for (const line of lines) console.log(scrub(line));
  for (const path of writeReports(report, options.out, scrub)) console.log(path);
  clear();
  const { compared, failed } = report.summary;
  // A promotion must not pass because a server was away.
  if (failed >= compared) return fail([`${failed} of ${compared + failed} questions could not be compared`]);
  process.exitCode = report.summary.unexplained > 0 ? 1 : 0;
};

const options = readOptions(process.argv.slice(2), Object.keys(catalogue.endpoints));
if (options === "help") console.log(usage);
else if ("errors" in options) fail([...options.errors, "npm run compare -- --help tells all options"]);
else
  await compare(options).catch((error: Error) => {
    fail([error.message]);
    // The sample legacy may still run.
    process.exit();
  });
flushCompileCache();
