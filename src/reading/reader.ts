import type { Knowledge } from "../endpoint/endpoint.ts";
import type { InputReading } from "../endpoint/input.ts";
import { type Checked, runJob, type ReadJob, type JobResult } from "./runJob.ts";
import { openFairQueue, type Queued } from "./fairQueue.ts";
import type { Read, Readable, ReadTask } from "./readAnswer.ts";
import { openThreads, type ThreadSettings } from "./threads.ts";

/** The caller for whom an answer is read. `deadline`: milliseconds since the epoch. `leaving` gives the signal that fires when the caller is gone. */
export type ReadFor = { caller: string; deadline: number; leaving?: (() => AbortSignal) | undefined };

/** `full`: too many answers wait to be read. `late`: the deadline has passed. `broken`: reading it failed. `left`: its caller is gone. */
export type Unread = { of: "unread"; unread: "full" | "late" | "broken" | "left" };

/** A result, or a promise of it where it takes another thread. */
export type MaybePromise<T> = T | Promise<T>;

const broken: Unread = { of: "unread", unread: "broken" };

/**
 * Reads answers and requests' bodies: small ones at once, large ones in other threads, so that callers do not wait for each other's.
 * Large ones wait in a bounded queue in which callers take turns.
 */
export type Reader = {
  /** Reads an answer of legacy. A small one is read at once, without a promise: there are many. */
  read(task: ReadTask, body: Buffer, readFor: ReadFor): MaybePromise<Read | Unread>;
  checkModern(endpoint: string, body: Buffer, readFor: ReadFor): Promise<Checked | Unread>;
  /** Reads a client's JSON body. */
  readInput(endpoint: string, body: Buffer, readFor: ReadFor): Promise<InputReading | Unread>;
  size(): { threads: number; jobs: number; bytes: number };
  close(): Promise<void>;
};

/** What a reader reads, and its bounds. */
export type ReaderSettings = ThreadSettings & {
  endpoints: ReadonlyMap<string, Readable>;
  knowledge: Knowledge;
  /** The URL of the module that exports the same endpoints; without it everything is read in this thread. */
  module: string | undefined;
  /** Answers of so many bytes are large. */
  large: { json: number; xml: number };
  /** What may wait, beside what is being read. */
  queue: { jobs: number; bytes: number };
  onFailed: (endpoint: string, why: string) => void;
  /** A thread has read one. */
  onRead?: () => void;
};

/** Of JSON and XML, in bytes: each takes about 4 ms to read, which is as long as others may wait. */
export const LARGE = { json: 128 * 1024, xml: 32 * 1024 };

/** The members of a client's body are listed as well: that takes as long again as parsing it. */
const PER_MEMBER = 2;

type Waiting = Queued & { start: () => void; refuse: (unread: Unread) => void };

/** Opens a reader; threads start when the first large body comes. */
export const openReader = (settings: ReaderSettings): Reader => {
  const { endpoints, knowledge, module, large, onFailed } = settings;
  const threads =
    module === undefined ? undefined : openThreads(settings, { module, legacyStudies: [...knowledge.legacyStudies] });
  const queue = openFairQueue<Waiting>(settings.queue);

  let closed = false;
  const startNext = (): void => {
    if (closed) return;
    while (queue.size().jobs > 0 && threads?.hasRoom()) queue.take()?.start();
  };

  const elsewhere = (
    job: ReadJob,
    body: Buffer,
    { caller, deadline, ...readFor }: ReadFor,
  ): Promise<JobResult | Unread> =>
    new Promise((resolve) => {
      const leaving = readFor.leaving?.();
      if (leaving?.aborted) return resolve({ of: "unread", unread: "left" });
      const settle = (result: JobResult | Unread) => {
        clearTimeout(timer);
        leaving?.removeEventListener("abort", leave);
        resolve(result);
      };
      const run = async () => {
        const result = await (threads as NonNullable<typeof threads>).run(job, body);
        if (result.of === "failure") {
          onFailed(job.of === "legacy" ? job.task.endpoint : job.endpoint, result.why);
          settle(broken);
        } else {
          settings.onRead?.();
          settle(result);
        }
        startNext();
      };
      const waiting: Waiting = { caller, bytes: body.byteLength, start: () => void run(), refuse: settle };
      const leave = () => {
        if (queue.remove(waiting)) settle({ of: "unread", unread: "left" });
      };
      // One that runs goes on: what it makes may be kept, and its thread is not worth a restart.
      const timer = setTimeout(
        () => {
          queue.remove(waiting);
          settle({ of: "unread", unread: "late" });
        },
        Math.max(1, deadline - Date.now()),
      );
      leaving?.addEventListener("abort", leave);
      for (const refused of queue.add(waiting)) refused.refuse({ of: "unread", unread: "full" });
      startNext();
    });

  const largeFrom = (job: ReadJob, body: Buffer): number => {
    if (job.of === "input") return large.json / PER_MEMBER;
    return isJson(body) ? large.json : large.xml;
  };

  const run = (job: ReadJob, body: Buffer, readFor: ReadFor): MaybePromise<JobResult | Unread> =>
    threads !== undefined && body.byteLength >= largeFrom(job, body)
      ? elsewhere(job, body, readFor)
      : runJob(endpoints, knowledge, job, body);

  return {
    read(task, body, readFor) {
      const result = run({ of: "legacy", task }, body, readFor);
      return result instanceof Promise ? result.then(legacyResult) : legacyResult(result);
    },
    async checkModern(endpoint, body, readFor) {
      const result = await run({ of: "modern", endpoint }, body, readFor);
      if (result.of === "unread") return result;
      return result.of === "modern" ? result.checked : broken;
    },
    async readInput(endpoint, body, readFor) {
      const result = await run({ of: "input", endpoint }, body, readFor);
      if (result.of === "unread") return result;
      return result.of === "input" ? result.input : broken;
    },
    size: () => ({ threads: threads?.size() ?? 0, ...queue.size() }),
    async close() {
      closed = true;
      for (let job = queue.take(); job !== undefined; job = queue.take()) job.refuse(broken);
      await threads?.close();
    },
  };
};

const legacyResult = (result: JobResult | Unread): Read | Unread => {
  if (result.of === "unread") return result;
  return result.of === "legacy" ? result.read : broken;
};

/** By its first sign; what hides it behind blanks counts as what takes longer. */
const isJson = (body: Buffer): boolean => /^\s{0,16}[{[]/.test(body.toString("latin1", 0, 17));
