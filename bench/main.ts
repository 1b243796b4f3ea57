import { Option } from "commander";
import { numberFrom } from "../tools/optionValues.ts";
import { runCheck } from "../test/support/runCheck.ts";
import { benchCache } from "./cache.ts";
import { benchCapacity } from "./capacity.ts";
import { benchMemory } from "./memory.ts";
import { benchMiss } from "./miss.ts";
import { benchOldClients } from "./oldClients.ts";
import { benchPassThrough } from "./passThrough.ts";
import { stopAll } from "./processes.ts";
import type { BenchOptions } from "./race.ts";
import { benchStartup } from "./startup.ts";

/** The choices of `--only`, in the order in which they run. */
const sections: Record<string, (options: BenchOptions) => Promise<void>> = {
  passthrough: benchPassThrough,
  startup: benchStartup,
  cache: benchCache,
  oldclients: benchOldClients,
  miss: benchMiss,
  memory: benchMemory,
  capacity: benchCapacity,
};

process.once("exit", stopAll);
await runCheck(
  "bench",
  (command) =>
    command
      .description(
        "Measures this checkout against its peers, in one run: all figures are ratios to a peer, raw medians beside them. Tools that are not installed (nginx, varnish, wrk, taskset) are left out and reported.",
      )
      .option("--rounds <n>", "how often each is measured", numberFrom(1, 999), 6)
      .option("--seconds <n>", "how long each load takes", numberFrom(1, 999), 1)
      .addOption(new Option("--only <section>", "measure only this").choices(Object.keys(sections)))
      .addHelpText("after", "\nExit code: 0 measured, 1 a wrong answer, 2 wrong options."),
  async ({ only, ...options }: BenchOptions & { only?: string }) => {
    const wanted = Object.entries(sections).flatMap(([name, run]) => (only === undefined || only === name ? run : []));
    try {
      for (const benchmark of wanted) {
        await benchmark(options);
        stopAll();
      }
      return true;
    } catch (error) {
      console.error(error);
      return false;
    }
  },
);
