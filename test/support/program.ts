import { type ChildProcessByStdio, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import type { Readable } from "node:stream";
import { cpuMicroseconds, residentMegabytes } from "../../bench/processes.ts";
import { until } from "./waiting.ts";

type Child = ChildProcessByStdio<null, Readable, Readable>;

const running = new Set<Child>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/**
 * A process whose output is read; it does not outlive this one. `listening` resolves with the address that it says,
 * `ended` with its exit code.
 */
export const watchProgram = (child: Child) => {
  running.add(child);
  const output = { out: "", error: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.error += chunk.toString()));
  child.once("error", ({ message }) => (output.error += message));
  const ended = new Promise<number | null>((resolve) => void child.once("close", resolve));
  void ended.then(() => running.delete(child));
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  const listening = async (): Promise<string> => {
    await until(() => /listens on .*\n/.test(output.out) || !isAlive());
    const [url] = /http:\/\/[\d.:]+/.exec(output.out) ?? [];
    if (url === undefined) throw new Error(`the gateway ended with ${await ended} at its start: ${output.error}`);
    return url;
  };
  return { child, output, ended, isAlive, listening };
};

/** Starts `src/main.ts` of the current directory on free ports, with these settings and arguments. */
export const spawnProgram = (settings: Record<string, string>, ...args: string[]) =>
  watchProgram(
    spawn(process.execPath, ["src/main.ts", ...args], {
      env: { PATH: process.env["PATH"], PORT: "0", ADMIN_PORT: "0", DRAIN_DELAY_MS: "0", ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    }),
  );

/** The real gateway in a process of its own, and its use of resources. Linux only. */
export type Program = Awaited<ReturnType<typeof startProgram>>;

/** As `spawnProgram`; it resolves when the gateway listens. */
export const startProgram = async (settings: Record<string, string>) => {
  const program = spawnProgram(settings);
  const { child, output, ended, isAlive } = program;
  const port = Number(new URL(await program.listening()).port);
  const pid = child.pid as number;
  return {
    ...program,
    port,
    adminPort: Number(/operators: http:\/\/[^:]+:(\d+)/.exec(output.out)?.[1]),
    /** Resident memory in MiB. */
    resident: () => residentMegabytes(pid),
    /** Processor time until now, in seconds. */
    processorTime: () => cpuMicroseconds(pid) / 1e6,
    /** Open files and sockets. */
    openFiles: () => readdirSync(`/proc/${pid}/fd`).length,
    /** Sends SIGTERM, after a minute SIGKILL; the exit code, `null` where it was killed. */
    stop: async (): Promise<number | null> => {
      if (isAlive()) child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
      const code = await ended;
      clearTimeout(late);
      return code;
    },
  };
};
