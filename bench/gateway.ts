import type { ChildProcess } from "node:child_process";
import { start } from "./processes.ts";

/** A gateway in a process of its own. */
export type RunningGateway = {
  url: string;
  pid: number;
  child: ChildProcess;
  /** The sum of a counter's values whose labels contain this text. */
  counted: (counter: string, labels?: string) => Promise<number>;
  /** The size of the cache. */
  cache: () => Promise<{ bytes: number; entries: number; evicted: number; bound: { bytes: number } }>;
};

/** Starts the gateway of this checkout over a legacy, with the default settings but for these. */
export const startGateway = async (
  core: number | undefined,
  legacy: string,
  settings: Record<string, string> = {},
): Promise<RunningGateway> => {
  const { child, line } = await start(core, [process.execPath, "src/main.ts"], /listens on .*operators: \S+/, {
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
      const values = lines.filter((one) => one.startsWith(counter) && one.includes(labels));
      return values.reduce((sum, one) => sum + Number(one.split(" ").at(-1)), 0);
    },
    cache: async () => (await (await fetch(`${admin}/cache`)).json()) as Awaited<ReturnType<RunningGateway["cache"]>>,
  };
};
