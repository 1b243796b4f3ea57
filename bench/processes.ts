import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** All processes that were started, so that they can be stopped after an error, too. */
const started = new Set<ChildProcess>();

/** True if a command is in the PATH. */
export const isInstalled = (command: string): boolean => {
  try {
    execFileSync("which", [command], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

/**
 * Starts a command, pinned to a core if one is named and taskset is installed, and waits for a
 * matching line of its output.
 *
 * @throws If it ends before that.
 */
export const start = async (
  core: number | undefined,
  command: string[],
  ready: RegExp,
  env: Record<string, string> = {},
): Promise<{ child: ChildProcess; line: string }> => {
  const [file, ...args] =
    core !== undefined && isInstalled("taskset") ? ["taskset", "-c", String(core), ...command] : command;
  const child = spawn(file as string, args, {
    env: { ...process.env, DRAIN_DELAY_MS: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.add(child);
  let output = "";
  const line = await new Promise<string>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      output += chunk.toString();
      const found = ready.exec(output);
      if (!found) return;
      // Further output is read and ignored.
      for (const stream of [child.stdout, child.stderr]) stream.off("data", look).resume();
      resolve(found[0]);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    child.once("exit", (code) => reject(new Error(`${command.join(" ")} ended with ${code}: ${output}`)));
  });
  return { child, line };
};

/** Ends a process with SIGTERM, and returns its exit code. */
export const stop = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    started.delete(child);
    if (child.exitCode !== null) return resolve(child.exitCode);
    child.once("exit", (code) => resolve(code));
    child.kill("SIGTERM");
  });

/** Ends all started processes. */
export const stopAll = (): void => {
  for (const child of started) child.kill("SIGTERM");
};

const stat = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

/** Processor time of a process and its children, in microseconds (the kernel counts in hundredths of a second). */
export const cpuMicroseconds = (pid: number): number => {
  const [utime, stime] = [Number(stat(pid)[11]), Number(stat(pid)[12])];
  return (utime + stime) * 10_000 + childrenOf(pid).reduce((sum, child) => sum + cpuMicroseconds(child), 0);
};

const megabytes = (pid: number, what: string): number =>
  Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

/** Resident memory in MB. */
export const residentMegabytes = (pid: number): number => megabytes(pid, "VmRSS");

/** The highest resident memory so far, in MB. */
export const peakMegabytes = (pid: number): number => megabytes(pid, "VmHWM");
