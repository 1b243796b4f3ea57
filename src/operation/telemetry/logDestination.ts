import { writeSync } from "node:fs";

/** The most bytes that wait for a reader; further lines are dropped. */
const MAX_BYTES = 1024 ** 2;
/**
 * The bytes that a pipe takes whole or not at all (PIPE_BUF of Linux), so that the lines of two writers that share it
 * do not mix.
 */
const MAX_CHUNK = 4096;
/** Milliseconds until the next try: of a full pipe, and of a pipe without a reader or a full disk. */
const RETRY_FULL = 50;
const RETRY_BROKEN = 5000;
/** Milliseconds for which the end of the process waits until all lines are written. */
const LAST_WORDS = 1000;

/**
 * `maxBytes`: the most bytes that wait. `delayMs`: the time for which a line waits for others to be written with it,
 * unless they fill a chunk. `endMs`: the time for which the end of the process waits for the reader.
 */
type LogDestinationOptions = { maxBytes?: number; delayMs?: number; endMs?: number };

/**
 * Writes lines to a file descriptor. Lines wait while the reader is slow, up to `maxBytes`; beyond that the newest are
 * dropped. When all that waited is written, `onDropped` gets the number of lines dropped. When the process ends, the
 * rest is written for up to `endMs`, by default a second.
 */
export const openLogDestination = (
  fd: number,
  onDropped: (lines: number) => void,
  { maxBytes = MAX_BYTES, delayMs = 0, endMs = LAST_WORDS }: LogDestinationOptions = {},
) => {
  /** Whole lines that are written at once: up to `MAX_CHUNK` bytes, or a single longer line. */
  const waiting: { text: string; size: number }[] = [];
  /** The unwritten rest of the first of them. */
  let rest: Buffer | undefined;
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let isStuck = false;
  let isOpened = false;
  let dropped = 0;
  let reported = 0;

  const open = (): void => {
    isOpened = true;
    // Node makes a pipe non-blocking when its stream is opened: a write to a full pipe then fails instead of waiting.
    if (fd === 1) void process.stdout;
    if (fd === 2) void process.stderr;
    if (endings.length === 0) process.once("exit", () => endings.forEach((end) => end()));
    endings.push(() => {
      const pause = new Int32Array(new SharedArrayBuffer(4));
      const until = performance.now() + endMs;
      while (writeWaiting() === "EAGAIN" && performance.now() < until) Atomics.wait(pause, 0, 0, 10);
    });
  };

  /** Writes as much as it can. Returns the code of the error that kept it from writing all. */
  const writeWaiting = (): string | undefined => {
    try {
      for (let [chunk] = waiting; chunk !== undefined; [chunk] = waiting) {
        rest ??= Buffer.from(chunk.text);
        while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
        rest = undefined;
        bytes -= chunk.size;
        waiting.shift();
      }
      return undefined;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? "";
    }
  };

  const flush = (): void => {
    const code = writeWaiting();
    timer = undefined;
    isStuck = code !== undefined;
    if (isStuck) timer = setTimeout(flush, code === "EAGAIN" ? RETRY_FULL : RETRY_BROKEN).unref();
    const lines = isStuck ? 0 : dropped - reported;
    reported += lines;
    if (lines > 0) onDropped(lines);
  };

  return {
    /** Does not wait for a reader that is stuck: the line is queued. */
    write(line: string): void {
      if (!isOpened) open();
      const size = Buffer.byteLength(line);
      if (bytes + size > maxBytes) {
        dropped++;
        return;
      }
      bytes += size;
      const last = waiting.at(-1);
      if (last !== undefined && last.size + size <= MAX_CHUNK && rest === undefined) {
        last.text += line;
        last.size += size;
      } else waiting.push({ text: line, size });
      if (isStuck) return;
      if (delayMs === 0 || waiting.length > 1) flush();
      else timer ??= setTimeout(flush, delayMs).unref();
    },
    /** The number of lines that were dropped until now. */
    dropped: () => dropped,
  };
};

/** The last writes of each destination, at the end of the process. */
const endings: (() => void)[] = [];
