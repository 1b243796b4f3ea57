import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { freePort } from "../../../support/freePort.ts";
import { temporaryFolder } from "../../../support/temporaryFolder.ts";
import { until } from "../../../support/waiting.ts";

/** Sends commands as a person would type them; gives Redis's raw answers. */
const talk = (port: number, ...lines: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(`${[...lines, "QUIT"].join("\r\n")}\r\n`));
    socket.on("data", (chunk) => (text += chunk.toString()));
    socket.on("error", reject).on("close", () => resolve(text));
  });

/** A real Redis on a free port, until `kill`. `keeps`: its data survive a restart. */
export const openRedis = async ({ keeps = false } = {}) => {
  const port = await freePort();
  const [directory, copy] = [temporaryFolder(), temporaryFolder()];
  const persistence = keeps ? ["--appendonly", "yes", "--appendfsync", "always"] : ["--appendonly", "no"];
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(
      "redis-server",
      ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", directory, ...persistence],
      { stdio: "ignore" },
    );
    for (const end = Date.now() + 30_000; Date.now() < end;) {
      const answer = await talk(port, "PING").catch(() => "");
      if (answer.startsWith("+PONG")) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error("redis-server does not answer");
  };
  const kill = () =>
    new Promise<void>((resolve) => {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once("exit", () => resolve());
      child.kill("SIGKILL");
    });
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    start,
    kill,
    /** It reads, but refuses writes: as a replica, or with a disk on which it cannot save. */
    async refuseWrites(as: "replica" | "full disk"): Promise<void> {
      if (as === "replica") return void (await talk(port, "REPLICAOF 127.0.0.1 1"));
      rmSync(directory, { recursive: true });
      await talk(port, 'CONFIG SET save "3600 1"', "BGSAVE");
      await until(async () => (await talk(port, "INFO persistence")).includes("rdb_last_bgsave_status:err"));
    },
    /** Copies its data. */
    copyData: () => cpSync(directory, copy, { recursive: true }),
    /** Replaces its data by the copy, or by none. It has to be killed before, and started afterwards. */
    replaceData(by: "copy" | "none"): void {
      rmSync(directory, { recursive: true });
      if (by === "copy") cpSync(copy, directory, { recursive: true });
      else mkdirSync(directory);
    },
    takeWrites: () => talk(port, "REPLICAOF NO ONE", "CONFIG SET stop-writes-on-bgsave-error no"),
    pause: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
    talk: (...lines: string[]) => talk(port, ...lines),
  };
};
