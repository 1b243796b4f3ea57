import { createReadStream } from "node:fs";
import type { CorpusRequest, SkipReason } from "./corpusRequest.ts";
import { mapTraffic, type TrafficMapper } from "./mapTraffic.ts";
import { harTraffic, isHar } from "./har.ts";
import { type Traffic, trafficOfLine } from "./trafficLine.ts";

/** Bytes of a line at most, and of a HAR, which has to be read whole. */
const MAX_LINE = 1_048_576;
const MAX_HAR = 256 * 1_048_576;

/** What is looked at to know a HAR, in bytes. */
const BEGINNING_BYTES = 65_536;

/** `lines` are the entries of a HAR; blank lines and comments are counted here only. */
type CorpusCounts = { lines: number; requests: number; skipped: Partial<Record<SkipReason, number>> };

/**
 * The asks in a file of traffic: an access log, a log in JSON lines, a list of URLs or a HAR. They can be taken once, and are read as they
 * are taken; the counts grow with it. Taking throws an error that names the file, and quotes nothing of it, where it cannot be read.
 */
export const readCorpus = (
  file: string,
  mapper: TrafficMapper,
): { requests: AsyncIterable<CorpusRequest>; counts: CorpusCounts } => {
  const counts: CorpusCounts = { lines: 0, requests: 0, skipped: {} };
  const skip = (reason: SkipReason): undefined => {
    counts.skipped[reason] = (counts.skipped[reason] ?? 0) + 1;
  };
  const askOf = (traffic: Traffic | "nothing" | undefined): CorpusRequest | undefined => {
    if (traffic === "nothing") return undefined;
    const mapped = traffic ? mapTraffic(mapper, traffic) : { skipped: "not understood" as const };
    if ("skipped" in mapped) return skip(mapped.skipped);
    counts.requests++;
    return mapped.ask;
  };

  const requests = async function* (): AsyncGenerator<CorpusRequest> {
    const { beginning, whole } = await opened(file);
    if (isHar(beginning)) {
      const entries = harTraffic(await textOf(whole, file));
      if (entries === undefined) throw new Error(`${file} begins like a HAR, but is none.`);
      for (const entry of entries) {
        counts.lines++;
        const ask = askOf(entry);
        if (ask) yield ask;
      }
      return;
    }
    for await (const batch of linesOf(whole, MAX_LINE))
      for (const line of batch) {
        counts.lines++;
        const ask = line === undefined ? skip("too long") : askOf(trafficOfLine(line));
        if (ask) yield ask;
      }
  };
  return { requests: requests(), counts };
};

/** The beginning of a file, and all of it: a pipe is read once. */
const opened = async (file: string): Promise<{ beginning: string; whole: AsyncGenerator<Buffer> }> => {
  const chunks = bytesOf(file);
  const first: Buffer[] = [];
  for (let size = 0; size < BEGINNING_BYTES; size += first.at(-1)?.length ?? 0) {
    const { value, done } = await chunks.next();
    if (done) break;
    first.push(value);
  }
  const whole = async function* () {
    try {
      yield* first;
      yield* chunks;
    } finally {
      // Whoever stops within the beginning has not begun with the rest.
      await chunks.return(undefined);
    }
  };
  return { beginning: Buffer.concat(first).toString("utf8"), whole: whole() };
};

const bytesOf = async function* (file: string): AsyncGenerator<Buffer> {
  const stream = createReadStream(file, { highWaterMark: 4 * BEGINNING_BYTES });
  try {
    yield* stream as AsyncIterable<Buffer>;
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? "unknown"}.`, { cause: error });
  } finally {
    stream.destroy();
  }
};

const textOf = async (chunks: AsyncIterable<Buffer>, file: string): Promise<string> => {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > MAX_HAR) throw new Error(`${file} is a HAR of more than ${MAX_HAR} bytes: cut it, or list its URLs.`);
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString("utf8");
};

/** The lines of a stream, a batch at a time; `undefined` stands for one of more than `most` bytes, of which nothing is kept. */
export const linesOf = async function* (
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<(string | undefined)[]> {
  let parts: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer) => {
    size += part.length;
    if (size > maxBytes) parts = [];
    else if (part.length > 0) parts.push(part);
  };
  const finish = (): string | undefined => {
    const line = size > maxBytes ? undefined : Buffer.concat(parts).toString("utf8").replace(/\r$/, "");
    parts = [];
    size = 0;
    return line;
  };
  for await (const chunk of chunks) {
    const batch: (string | undefined)[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end));
      batch.push(finish());
      start = end + 1;
    }
    add(chunk.subarray(start));
    if (batch.length > 0) yield batch;
  }
  if (size > 0) yield [finish()];
};
