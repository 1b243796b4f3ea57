import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { type JobFailure, type ReadJob, type JobMessage, type JobResult, READY, type ThreadData } from "./runJob.ts";

/** The bounds of the threads. */
export type ThreadSettings = {
  /** At most so many at a time. */
  threads: number;
  /** Of heap, for each thread, in MiB. */
  heap: number;
  /** Milliseconds that one job may run. */
  timeout: number;
  /** Milliseconds without a job after which a thread ends. */
  idle: number;
};

/** A few threads that run a job each. They start when they are needed and end when they are idle. */
type Threads = {
  hasRoom(): boolean;
  /** Runs a job now: only where there is room. Its body goes to the thread. A thread that dies or takes too long fails its job, and is replaced. */
  run(job: ReadJob, body: Buffer): Promise<JobResult | JobFailure>;
  size(): number;
  close(): Promise<void>;
};

type Thread = { worker: Worker; idle?: NodeJS.Timeout; isBusy: boolean; isReady: boolean };

/** Opens the threads; none runs yet. */
export const openThreads = ({ threads, heap, timeout, idle }: ThreadSettings, data: ThreadData): Threads => {
  const running = new Set<Thread>();

  const end = (thread: Thread): Promise<unknown> => {
    running.delete(thread);
    clearTimeout(thread.idle);
    return thread.worker.terminate();
  };

  const start = (): Thread => {
    const worker = new Worker(new URL(`./thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: data,
      // What the gateway was started with, keys among it, is not for a thread that reads foreign bytes.
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: heap, maxYoungGenerationSizeMb: YOUNG },
    });
    worker.unref();
    const thread: Thread = { worker, isBusy: false, isReady: false };
    // One that dies without a job is replaced when the next one comes.
    worker.on("error", () => running.delete(thread));
    worker.on("exit", () => running.delete(thread));
    running.add(thread);
    return thread;
  };

  const rest = (thread: Thread): void => {
    thread.isBusy = false;
    thread.worker.unref();
    thread.idle = setTimeout(() => void end(thread), idle);
    thread.idle.unref();
  };

  return {
    hasRoom: () => running.size < threads || [...running].some(({ isBusy }) => !isBusy),
    size: () => running.size,
    run: (job, body) =>
      new Promise((resolve) => {
        const thread = [...running].find(({ isBusy }) => !isBusy) ?? start();
        const { worker } = thread;
        thread.isBusy = true;
        clearTimeout(thread.idle);
        // A job keeps the process alive: its caller waits.
        worker.ref();
        const settle = (result: JobResult | JobFailure) => {
          clearTimeout(timer);
          worker.off("message", onMessage).off("error", onError).off("exit", onExit);
          if (result.of === "failure") void end(thread);
          else rest(thread);
          resolve(result);
        };
        const onMessage = (result: JobResult | typeof READY) => {
          if (result !== READY) return settle(withBuffer(result));
          thread.isReady = true;
          clearTimeout(timer);
          timer = setTimeout(expire, timeout);
        };
        const onError = (error: Error) => settle({ of: "failure", why: error.message });
        const onExit = (code: number) => settle({ of: "failure", why: `the thread ended with ${code}` });
        const expire = () => settle({ of: "failure", why: `it took more than ${timeout} ms` });
        let timer = setTimeout(expire, thread.isReady ? timeout : Math.max(START_MS, timeout));
        worker.on("message", onMessage).on("error", onError).on("exit", onExit);
        const bytes = transferable(body);
        worker.postMessage({ job, body: bytes } satisfies JobMessage, [bytes.buffer]);
      }),
    async close() {
      await Promise.all([...running].map(end));
    },
  };
};

/** Milliseconds in which a thread has to start. */
const START_MS = 30_000;

/** MiB for what lives shortly: most of what parsing makes does, and a small nursery is emptied too often. */
const YOUNG = 64;

/** The same bytes, where they have their memory for themselves; else a copy of them. */
const transferable = (body: Buffer): Uint8Array<ArrayBuffer> =>
  body.buffer instanceof ArrayBuffer && body.buffer.byteLength === body.byteLength
    ? new Uint8Array(body.buffer)
    : new Uint8Array(body);

/** Bytes arrive as plain arrays. */
const withBuffer = (result: JobResult): JobResult => {
  if (result.of === "modern") {
    if (result.checked.ok) result.checked.body = bufferOf(result.checked.body);
  } else if (result.of === "legacy" && result.read.is === "document" && "written" in result.read) {
    const { written } = result.read;
    if (typeof written.body !== "string") written.body = bufferOf(written.body);
  }
  return result;
};

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
