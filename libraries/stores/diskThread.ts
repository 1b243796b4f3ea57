import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { threadEnvironment, withTimeout } from "../../src/operation/index.ts";

/**
 * The patience of a start or a check with a disk: milliseconds until `onHanging` is called, and until the disk is given
 * up; a test may change them.
 */
export type DiskPatience = { hint?: number | undefined; patience?: number | undefined; onHanging: () => void };

/**
 * Runs a module in a separate thread, which gets its data: a disk that hangs delays nothing else. The module lies
 * beside the caller's, whose `import.meta.url` is `beside`.
 */
export const startDiskThread = (name: string, beside: string, workerData: unknown): Worker =>
  new Worker(new URL(`${name}${extname(beside)}`, beside), { name: "store", workerData, env: threadEnvironment });

/** The first answer of such a thread; "late" if the disk hangs. The thread then does not keep the process alive. */
export const firstAnswer = async <T>(
  answer: Promise<T>,
  thread: Worker,
  { hint = 5000, patience = 60_000, onHanging }: DiskPatience,
): Promise<T | "late"> => {
  const soon = await withTimeout(answer, hint);
  if (soon !== "late") return soon;
  onHanging();
  const later = await withTimeout(answer, patience - hint);
  if (later === "late") {
    thread.unref();
    endWithoutThread(answer);
  }
  return later;
};

/** The error of a directory whose thread has given no answer. */
export const diskSilent = (): Error => new Error("its disk does not answer");

/**
 * Lets the process end before a thread has answered, which may be in a system call that does not return. `process.exit`
 * would wait for it. So this process is replaced by another program that exits with its code: that ends all threads.
 */
export const endWithoutThread = (answer: Promise<unknown>): void => {
  const end = (code: number) =>
    process.execve?.(process.execPath, [process.execPath, "-e", `process.exit(${code})`], {});
  const withdraw = () => void process.off("exit", end);
  process.once("exit", end);
  answer.then(withdraw, withdraw);
};
