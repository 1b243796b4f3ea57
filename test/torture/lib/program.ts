import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { cpuMicroseconds, residentMegabytes } from "../../../bench/processes.ts";

/** The real program in a process of its own. */
export type Program = {
  port: number;
  adminPort: number;
  child: ChildProcess;
  /** What it has logged until now, where the log is read. */
  log: () => string;
  isAlive: () => boolean;
  /** Resident memory in MiB. */
  resident: () => number;
  /** Processor time until now, in seconds. */
  processorTime: () => number;
  /** Open files and sockets. */
  openFiles: () => number;
  /** Sends SIGTERM, after a minute SIGKILL; the exit code, `null` where it was killed. */
  stop: () => Promise<number | null>;
};

export type ProgramOptions = {
  /** For Node, before the program's name. */
  nodeArguments?: string[];
  /** False leaves the log's pipe unread. */
  readsLog?: boolean;
};

const START_LIMIT = 120_000;
const running = new Set<ChildProcess>();

/** Ends every program that still runs, at once. */
export const killPrograms = (): void => {
  for (const child of running) child.kill("SIGKILL");
};

/** Starts `src/main.ts` of the current directory on free ports; it resolves when it listens. */
export const startProgram = async (
  settings: Record<string, string>,
  { nodeArguments = [], readsLog = true }: ProgramOptions = {},
): Promise<Program> => {
  const child = spawn(process.execPath, [...nodeArguments, "src/main.ts"], {
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      ADMIN_PORT: "0",
      DRAIN_DELAY_MS: "0",
      // The prefix alone would lead to the documents, of which the model knows nothing.
      DOCUMENTS: "false",
      LOG_LEVEL: "error",
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  let output = "";
  let log = "";
  if (readsLog) child.stderr.on("data", (chunk: Buffer) => (log = (log + chunk.toString()).slice(-100_000)));
  const ended = new Promise<number | null>((resolve) => void child.once("exit", (code) => resolve(code)));
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`the gateway did not start within ${START_LIMIT} ms: ${log}`)),
      START_LIMIT,
    );
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (!/operators: \S+\n/.test(output)) return;
      clearTimeout(late);
      resolve();
    });
    void ended.then((code) => reject(new Error(`the gateway ended with ${code} at its start: ${log}${output}`)));
  });
  const portOf = (pattern: RegExp) => Number(new URL(pattern.exec(output)?.[1] ?? "").port);
  const pid = child.pid as number;
  return {
    port: portOf(/listens on ([^\s,]+)/),
    adminPort: portOf(/operators: (\S+)/),
    child,
    log: () => log,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    resident: () => residentMegabytes(pid),
    processorTime: () => cpuMicroseconds(pid) / 1e6,
    openFiles: () => readdirSync(`/proc/${pid}/fd`).length,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
      const code = await ended;
      clearTimeout(late);
      return code;
    },
  };
};
