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

/**
 * Why a large body was not read. `full`: too many wait. `late`: the deadline has passed. `broken`: reading it failed.
 */
export type ReadFailure = { failure: "full" | "late" | "broken" };

/** A result, or a promise of it where it takes another thread. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * A body to be read. `deadline`: on the clock of `performance.now()`. `holding`: has its bytes, and gets those of what
 * is made of it.
 */
type BodyToRead = [body: Buffer, deadline: number, holding?: Holding];

/** Reads answers. */
export type Reader = ReturnType<typeof openReader>;

/** What a reader reads, and its bounds. */
export type ReaderSettings = {
  endpoints: ReadonlyMap<string, Readable>;
  /** The URL of the module that exports the same endpoints; without it everything is read in this thread. */
  module: string | undefined;
  /** Bodies of so many bytes are large (default: `LARGE`). */
  large?: { json: number; xml: number };
  threads: number;
  /** Bytes of the largest answer: they give the heap of a thread, unless `heap` does (MiB). */
  maxReply: number;
  heap?: number;
  /** Milliseconds without a body after which a thread ends, and gives its memory back (default: a minute). */
  idle?: number;
  /** Large bodies that wait or are being read, at most (default: 500). */
  jobs?: number;
  /** Bounds their bytes, and those of answers that are fetched or wait to be sent. */
  memory: ByteBudget;
  /** Milliseconds after its deadline that a thread may go on with a body; then the thread is ended (default: 30 s). */
  overtime?: number;
  /** A thread failed. `endpoint`: of the body that it read. */
  onFailed: (why: string, endpoint?: string) => void;
  onRead?: () => void;
};

/** In bytes: each takes about 4 ms to read, which is as long as others may wait. */
const LARGE = { json: 128 * 1024, xml: 32 * 1024 };

/**
 * Opens a reader of answers: small ones are read at once and without a promise, since there are many; large ones in
 * other threads, so that callers do not wait for each other's. Threads start when the first large body comes, whose
 * bytes go to its thread.
 */
export const openReader = (settings: ReaderSettings) => {
  const { endpoints, module, large = LARGE, jobs: maxJobs = 500, overtime = 30_000, memory, onFailed } = settings;
  const threadData = module === undefined ? undefined : { module };
  let jobs = 0;
  let bytes = 0;
  let pool: Tinypool | undefined;
  const open = once(async () => {
    if (threadData === undefined) throw new Error("threads load the endpoints from a module, and there is none");
    return (pool = await openPool(settings, threadData));
  });

  const inThread = async (message: ThreadMessage): Promise<ThreadResult | ReadFailure> => {
    // A thread begins nothing that is late: one that is ended has read for all of `overtime`.
    const signal = AbortSignal.timeout(Math.ceil(Math.max(0, message.deadline - performance.now()) + overtime));
    try {
      const options = { ...THREAD, transferList: { transfer: [message.body.buffer] }, signal };
      const threads = await open();
      const result = withBuffer((await threads.run(message, options)) as ThreadResult);
      settings.onRead?.();
      return result;
    } catch (error) {
      onFailed(signal.aborted ? "it took too long" : (error as Error).message, message.task.endpoint);
      // The pool starts threads for new tasks only, but others may wait for the one that failed.
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
    const largeFrom = isJson(body) ? large.json : large.xml;
    if (threadData === undefined || length < largeFrom) return runJob(endpoints, of, task, body);
    // The thread has the bytes, also after the request has ended.
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
    /** Reads an answer of the new implementation, for `libraries/modern`: in the same threads, within their bounds. */
    readModern: (task: Jobs["modern"]["task"], ...of: BodyToRead) => run("modern", task, ...of),
    /** `waiting`: bodies that wait for a thread. `bytes`: of these, and of those that are being read. */
    size: () => ({ threads: pool?.threads.length ?? 0, waiting: pool?.queueSize ?? 0, bytes }),
    close: async (): Promise<void> => pool?.destroy(),
  };
};

/** Given with each body: what a thread loads, and fails to load, then belongs to the body that waits for it. */
const THREAD = { filename: new URL(`./thread${extname(import.meta.url)}`, import.meta.url), name: "readLarge" };

const MIB = 1024 ** 2;
/** Bytes of heap for a thread: so many for each byte of the largest answer, and no fewer. */
const HEAP_PER_BYTE = 16;
const MIN_HEAP = 512 * MIB;
/** MiB for what lives shortly: most of what parsing makes does, and a small nursery is emptied too often. */
const YOUNG = 64;

/** The library is loaded here: most gateways start long before they read a large body. */
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
  // Of a thread without a task: one that could not start, say.
  pool.on("error", ({ message }: Error) => onFailed(message));
  return pool;
};

/** Whether the body begins with `{` or `[`. One behind many blanks counts as XML, which takes longer to read. */
const isJson = (body: Buffer): boolean => /^\s{0,16}[{[]/.test(body.toString("latin1", 0, 17));

/** The same bytes, where they have their memory for themselves; else a copy of them. */
const transferable = (body: Buffer): Uint8Array<ArrayBuffer> =>
  body.buffer instanceof ArrayBuffer && body.buffer.byteLength === body.byteLength
    ? new Uint8Array(body.buffer)
    : new Uint8Array(body);

/** Bytes arrive as plain arrays. */
const withBuffer = (result: ThreadResult): ThreadResult => {
  if ("written" in result && typeof result.written.answer.body !== "string") {
    const { buffer, byteOffset, byteLength } = result.written.answer.body;
    result.written.answer.body = Buffer.from(buffer, byteOffset, byteLength);
  }
  return result;
};
