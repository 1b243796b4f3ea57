import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { start } from "./processes.ts";

/** A gateway that runs in a separate process. */
export type RunningGateway = {
  url: string;
  pid: number;
  child: ChildProcess;
  /** The sum of a counter's values whose labels contain this text. */
  counted: (counter: string, labels?: string) => Promise<number>;
  /** The size of the cache. */
  cache: () => Promise<{ bytes: number; entries: number; evicted: number; bound: { bytes: number } }>;
};

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: { start: string } };
const commandOf = (script: string) => ["sh", "-c", `PATH="${dirname(process.execPath)}:$PATH"; ${script}`];

/** The command that starts the gateway of this checkout as `npm start` does, with the Node that runs this. */
export const gatewayCommand = commandOf(scripts.start);

/** The command that starts the gateway without features, with the flags that the whole gateway sets when it serves. */
export const thinCommand = commandOf(
  scripts.start.replace(
    "src/main.ts",
    "--heap-growing-percent=30 --external-memory-accounted-in-global-limit src/thin.ts",
  ),
);

/** Starts the gateway of this checkout in front of a legacy. `settings` replace the defaults. */
export const startGateway = async (
  core: number | undefined,
  legacy: string,
  settings: Record<string, string> = {},
  command = gatewayCommand,
): Promise<RunningGateway> => {
  const { child, line } = await start(core, command, /listens on .*operators: \S+/, {
    LEGACY_URL: legacy,
    PORT: "0",
    ADMIN_PORT: "0",
    LOG_LEVEL: "silent",
    ...settings,
  });
  const [, url = "", admin = ""] = /listens on (\S+),.*operators: (\S+)/.exec(line) ?? [];
  return {
    url,
    pid: child.pid as number,
    child,
    async counted(counter, labels = "") {
      const lines = (await (await fetch(`${admin}/metrics`)).text()).split("\n");
      const values = lines.filter((sample) => sample.startsWith(counter) && sample.includes(labels));
      return values.reduce((sum, sample) => sum + Number(sample.split(" ").at(-1)), 0);
    },
    cache: async () => (await (await fetch(`${admin}/cache`)).json()) as Awaited<ReturnType<RunningGateway["cache"]>>,
  };
};
