import { extname } from "node:path";
import type { Tinypool } from "tinypool";
import {
  type ByteBudget,
  countedBytes,
  type Holding,
  once,
  runStep,
  threadEnvironment,
  withTimeout,
} from "../../operation/index.ts";
import {
  type Jobs,
  type Readable,
  runJob,
  type ThreadData,
  type ThreadMessage,
  type ThreadResult,
} from "../../catalogue/index.ts";

/** Says why a large body was not read. `full`: too many wait. `late`: the deadline has passed. `broken`: it failed. */
export type ReadFailure = { failure: "full" | "late" | "broken" };

/** A result, or a promise of it if another thread is needed. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * A body to be read. `deadline`: on the clock of `performance.now()`. `holding`: holds the bytes of the body, and then
 * those of the result.
 */
type BodyToRead = [body: Buffer, deadline: number, holding?: Holding];

/** The reader of answers. */
export type Reader = ReturnType<typeof openReader>;

/** The endpoints of a reader, and its bounds. */
export type ReaderSettings = {
  endpoints: ReadonlyMap<string, Readable>;
  /** The URL of the module that exports the same endpoints; without it all bodies are read in this thread. */
  module: string | undefined;
  /** Bytes from which a body is large (default: `LARGE`). */
  large?: { json: number; xml: number };
  threads: number;
  /** Bytes of the largest answer. The heap of a thread follows from it, unless `heap` is given (MiB). */
  maxReply: number;
  heap?: number;
  /** Milliseconds without a body after which a thread ends and frees its memory (default: a minute). */
  idle?: number;
  /** The maximum number of large bodies that wait or are being read (default: 500). */
  jobs?: number;
  /** Bounds the bytes of large bodies, and of answers that are fetched or wait to be sent. */
  memory: ByteBudget;
  /** Milliseconds that a thread may read on after the deadline; then the thread is ended (default: 30 s). */
  overtime?: number;
  /** Called when a thread has failed. `endpoint`: of the body that it read. */
  onFailed: (why: string, endpoint?: string) => void;
  onRead?: () => void;
};

/** In bytes: a body of this size takes about 4 ms to read, and other requests may wait for no longer than that. */
const LARGE = { json: 128 * 1024, xml: 32 * 1024 };

/**
 * Opens a reader of answers. It reads small answers at once and without a promise, since there are many. It reads large
 * answers in other threads, so that callers do not wait for the answers of others. The threads start when the first
 * large body comes. The bytes of a large body move to its thread.
 */
export const openReader = (settings: ReaderSettings) => {
  const { endpoints, module, large = LARGE, jobs: maxJobs = 500, overtime = 30_000, memory, onFailed } = settings;
  const threadData = module === undefined ? undefined : { module };
  let jobs = 0;
  let bytes = 0;
  let pool: Tinypool | undefined;
  const open = once(async () => {
    if (threadData === undefined) throw new Error("threads load the endpoints from a module, and it is missing");
    return (pool = await openPool(settings, threadData));
  });

  const inThread = async (message: ThreadMessage): Promise<ThreadResult | ReadFailure> => {
    // A thread does not begin a late body, so a thread that is ended here has read for all of `overtime`.
    const signal = AbortSignal.timeout(Math.ceil(Math.max(0, message.deadline - performance.now()) + overtime));
    try {
      const options = { ...THREAD, transferList: { transfer: [message.body.buffer] }, signal };
      const threads = await open();
      const result = withBuffer((await threads.run(message, options)) as ThreadResult);
      settings.onRead?.();
      return result;
    } catch (error) {
      onFailed(signal.aborted ? "it took too long" : (error as Error).message, message.task.endpoint);
      // The pool starts threads only for new tasks, but other tasks may wait for the thread that failed.
      if (pool !== undefined && pool.queueSize > 0)
        pool.run(undefined, THREAD).catch((failure: Error) => onFailed(failure.message));
      return { failure: "broken" };
    }
  };

  const run = <K extends keyof Jobs>(
    of: K,
    task: Jobs[K]["task"],
    ...[body, deadline, holding]: BodyToRead
  ): MaybePromise<Jobs[K]["result"] | ReadFailure> => {
    const { length } = body;
    const counted = countedBytes(body);
    // To compare the document with ours, written back, takes about as long as to read it.
    const largeFrom = (isJson(body) ? large.json : large.xml) / ("isProved" in task && task.isProved ? 2 : 1);
    if (threadData === undefined || length < largeFrom) return runJob(endpoints, of, task, body);
    // The thread has the bytes, even after the request has ended.
    holding?.release(counted);
    if (jobs >= maxJobs || !memory.take(counted)) return { failure: "full" };
    jobs++;
    bytes += length;
    const reading = async (): Promise<ThreadResult | ReadFailure> => {
      let result: ThreadResult | ReadFailure;
      try {
        result = await inThread({ of, task, body: transferable(body), deadline });
      } finally {
        jobs--;
        bytes -= length;
        memory.release(counted);
      }
      const made = "written" in result ? countedBytes(result.written.answer.body) : 0;
      return holding?.take(made) === false ? { failure: "full" } : result;
    };
    return withTimeout(reading(), Math.max(0, deadline - performance.now())).then((read) =>
      read === "late" ? { failure: read } : read,
    );
  };

  return {
    /** Reads an answer of legacy. */
    read: (task: Jobs["legacy"]["task"], ...of: BodyToRead) =>
      runStep("transform", { endpoint: task.endpoint }, () => run("legacy", task, ...of)),
    /** Reads an answer of the new implementation, for `libraries/modern`, in the same threads and with their bounds. */
    readModern: (task: Jobs["modern"]["task"], ...of: BodyToRead) => run("modern", task, ...of),
    /** Writes a document of ours in legacy's form. */
    writeOldForm: (task: Jobs["oldForm"]["task"], ...of: BodyToRead) => run("oldForm", task, ...of),
    /** `waiting`: bodies that wait for a thread. `bytes`: of all bodies that wait or are being read. */
    size: () => ({ threads: pool?.threads.length ?? 0, waiting: pool?.queueSize ?? 0, bytes }),
    close: async (): Promise<void> => pool?.destroy(),
  };
};

/** Given with each body, not to the pool: if a thread cannot load this file, the body that waits for it fails. */
const THREAD = { filename: new URL(`./thread${extname(import.meta.url)}`, import.meta.url), name: "readLarge" };

const MIB = 1024 ** 2;
/** Bytes of a thread's heap for each byte of the largest answer; `MIN_HEAP`: the least heap in bytes. */
const HEAP_PER_BYTE = 16;
const MIN_HEAP = 512 * MIB;
/** MiB for short-lived objects. Parsing makes many of them, and a small young generation is collected too often. */
const YOUNG = 64;

/** Opens the pool of threads. It loads the library only now: most gateways start long before their first large body. */
const openPool = async (
  {
    threads,
    maxReply,
    heap = Math.max(MIN_HEAP, HEAP_PER_BYTE * maxReply) / MIB,
    idle = 60_000,
    onFailed,
  }: ReaderSettings,
  workerData: ThreadData,
): Promise<Tinypool> => {
  const { Tinypool } = await import("tinypool");
  const pool = new Tinypool({
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: idle,
    workerData,
    env: threadEnvironment,
    resourceLimits: { maxOldGenerationSizeMb: heap, maxYoungGenerationSizeMb: YOUNG },
  });
  // This is an error of a thread without a task, for example a thread that could not start.
  pool.on("error", ({ message }: Error) => onFailed(message));
  return pool;
};

/** True if the body begins with `{` or `[`, after a few blanks. All other bodies count as XML, which is read slower. */
const isJson = (body: Buffer): boolean => /^\s{0,16}[{[]/.test(body.toString("latin1", 0, 17));

/** The same bytes if no other bytes are in their memory, else a copy. */
const transferable = (body: Buffer): Uint8Array<ArrayBuffer> =>
  body.buffer instanceof ArrayBuffer && body.buffer.byteLength === body.byteLength
    ? new Uint8Array(body.buffer)
    : new Uint8Array(body);

/** Makes the bytes of a result a Buffer again: they arrive from the thread as a plain array. */
const withBuffer = (result: ThreadResult): ThreadResult => {
  if ("written" in result && typeof result.written.answer.body !== "string") {
    const { buffer, byteOffset, byteLength } = result.written.answer.body;
    result.written.answer.body = Buffer.from(buffer, byteOffset, byteLength);
  }
  return result;
};
