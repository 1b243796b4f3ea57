import { join } from "node:path";
import { freePort } from "../../test/support/freePort.ts";
import { start } from "../processes.ts";
import { temporaryFolder } from "../../test/support/temporaryFolder.ts";

/** Starts a varnishd in front of an upstream; it caches all answers for an hour. */
export const startVarnish = async (core: number, upstream: string): Promise<{ url: string; pid: number }> => {
  const port = await freePort();
  const directory = join(temporaryFolder(), "work");
  const { child } = await start(
    core,
    [
      "varnishd",
      "-F",
      "-n",
      directory,
      "-a",
      `127.0.0.1:${port}`,
      "-b",
      upstream.replace("http://", ""),
      "-t",
      "3600",
      "-s",
      "malloc,256m",
      "-p",
      "thread_pools=1",
    ],
    /Child launched OK|started|Child \(\d+\) said Child starts/,
  );
  return { url: `http://127.0.0.1:${port}`, pid: child.pid as number };
};
