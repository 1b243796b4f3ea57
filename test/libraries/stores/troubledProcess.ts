import { spawn, spawnSync } from "node:child_process";
import { closeSync, constants, openSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { watchProgram } from "../../support/program.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

/** A switch that makes the disk of a process fail: `option` is for its Node. */
export const openTrouble = () => {
  const path = join(temporaryFolder(), "trouble");
  const file = pathToFileURL(join(import.meta.dirname, "troubledDisk.ts"));
  return {
    option: `--import=${file.href}?${encodeURIComponent(path)}`,
    /** From now on each write hangs, in a call to the system. */
    hang: () => spawnSync("mkfifo", [path]),
    /** Lets the calls that hang go on. */
    release() {
      const pipe = openSync(path, constants.O_RDWR);
      unlinkSync(path);
      closeSync(pipe);
    },
    /** The next write ends its thread. */
    endThread: () => writeFileSync(path, "end"),
  };
};

/** A process of Node with these arguments. `blocks`: where a file would get larger, a write fails as on a full disk. */
export const startNode = (args: string[], settings: Record<string, string> = {}, blocks?: number) => {
  const limit = `trap '' XFSZ; ulimit -f ${blocks ?? "unlimited"}; exec "$0" "$@"`;
  const child = spawn("sh", ["-c", limit, process.execPath, ...args], {
    env: { PATH: process.env["PATH"], PORT: "0", ADMIN_PORT: "0", DRAIN_DELAY_MS: "0", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return watchProgram(child);
};
