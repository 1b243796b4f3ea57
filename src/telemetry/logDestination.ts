import { write, writeSync } from "node:fs";

/** Where lines of the log go. */
type LogDestination = {
  /** Never blocks, even while the reader of the log is stuck. */
  write(line: string): void;
  /** Lines that were dropped until now. */
  dropped(): number;
};

/** Bytes that wait at most for a reader; lines beyond are dropped. */
const MAX_BYTES = 1024 ** 2;
/** Bytes that a pipe takes whole or not at all (PIPE_BUF of Linux), so that the lines of processes that share it do not mix. */
const MAX_CHUNK = 4096;
/** Milliseconds until a full pipe is tried again, and at most until one that fails is: the time doubles with each failure. */
const RETRY = 50;
const MAX_RETRY = 5000;
/** Milliseconds that the end of the process waits for what is still to be written. */
const LAST_WORDS = 1000;

/** `maxBytes`: that wait at most. `delayMs`: a line waits so long for others to be written with it, or until they fill a chunk. */
type LogDestinationOptions = { maxBytes?: number; delayMs?: number };

/**
 * Writes lines to a file descriptor without blocking. Lines wait while the reader is slow, up to `maxBytes`; beyond that the newest are dropped.
 * A line of up to 4096 bytes does not mix with those that another process writes to the same pipe.
 * When all that waited is written, `onDropped` gets the number of lines dropped. When the process ends, the rest is written for up to a second.
 */
export const openLogDestination = (
  fd: number,
  onDropped: (lines: number) => void,
  { maxBytes = MAX_BYTES, delayMs = 0 }: LogDestinationOptions = {},
): LogDestination => {
  /** Whole lines, to be written in one go: up to `MAX_CHUNK` bytes, or one longer line. */
  const waiting: { text: string; size: number }[] = [];
  /** Of the lines that wait and of the chunk that is being written. */
  let bytes = 0;
  let chunk: Buffer = nothing;
  let state: "idle" | "delayed" | "writing" | "waiting" = "idle";
  let delay: NodeJS.Timeout | undefined;
  let isOpened = false;
  let dropped = 0;
  let reported = 0;
  /** Writes in a row that failed. */
  let failures = 0;

  const open = (): void => {
    isOpened = true;
    // Node makes a pipe non-blocking when its stream is opened. A write to a full one then fails instead of holding a thread of the pool.
    if (fd === 1) void process.stdout;
    if (fd === 2) void process.stderr;
    if (flushes.size === 0) process.once("exit", () => flushes.forEach((one) => one()));
    flushes.add(flush);
  };

  const next = (): void => {
    if (chunk.length === 0) {
      chunk = Buffer.from(waiting.shift()?.text ?? "");
    }
    if (chunk.length > 0) {
      state = "writing";
      write(fd, chunk, onWritten);
      return;
    }
    state = "idle";
    // A line about it would fail as the last one did.
    if (dropped === reported || failures > 0) return;
    const since = dropped - reported;
    reported = dropped;
    onDropped(since);
  };

  const onWritten = (error: NodeJS.ErrnoException | null, written: number): void => {
    if (error?.code === "EAGAIN") {
      state = "waiting";
      setTimeout(next, RETRY).unref();
      return;
    }
    const done = error ? chunk.length : written;
    bytes -= done;
    if (error) {
      // The reader has gone, or the disk is full.
      dropped += chunk.toString("latin1").split("\n").length - 1;
      chunk = nothing;
      state = "waiting";
      setTimeout(next, Math.min(MAX_RETRY, RETRY * 2 ** failures++)).unref();
      return;
    }
    failures = 0;
    chunk = chunk.subarray(done);
    nextOrLater();
  };

  /** Writes what waits, unless it may still be joined by others. */
  const nextOrLater = (): void => {
    if (delayMs === 0 || chunk.length > 0 || waiting.length !== 1) return next();
    state = "delayed";
    delay ??= setTimeout(() => state === "delayed" && next(), delayMs).unref();
    delay.refresh();
  };

  const flush = (): void =>
    // A chunk that is being written is written by the pool of threads, whose end the process waits for.
    writeNow(fd, [state === "writing" ? nothing : chunk, ...waiting.map(({ text }) => Buffer.from(text))]);

  return {
    write(line) {
      if (!isOpened) open();
      const size = Buffer.byteLength(line);
      if (bytes + size > maxBytes) {
        dropped++;
        return;
      }
      bytes += size;
      const last = waiting.at(-1);
      if (last !== undefined && last.size + size <= MAX_CHUNK) {
        last.text += line;
        last.size += size;
      } else waiting.push({ text: line, size });
      if (state === "idle" || (state === "delayed" && waiting.length > 1)) nextOrLater();
    },
    dropped: () => dropped,
  };
};

/** Writes these chunks before the process ends, for up to a second. */
const writeNow = (fd: number, chunks: readonly Buffer[]): void => {
  const until = Date.now() + LAST_WORDS;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (const chunk of chunks) {
    let rest = chunk;
    while (rest.length > 0 && Date.now() < until) {
      try {
        rest = rest.subarray(writeSync(fd, rest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
        Atomics.wait(pause, 0, 0, 10);
      }
    }
  }
};

/** What the end of the process writes, for each destination. */
const flushes = new Set<() => void>();

const nothing = Buffer.alloc(0);
