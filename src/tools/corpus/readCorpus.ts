import { createReadStream } from "node:fs";
import type { CorpusRequest, SkipReason } from "./corpusRequest.ts";
import { harTraffic, isHar } from "./har.ts";
import { mapTraffic, type TrafficMapper } from "./mapTraffic.ts";
import { type Traffic, trafficOfLine } from "./trafficLine.ts";

/** Bytes of a line, and of a HAR, which must be read whole. */
const MAX_LINE = 1_048_576;
const MAX_HAR = 256 * 1_048_576;

/** Bytes by which a HAR is recognized. */
const BEGINNING_BYTES = 65_536;

/** `lines`: those of the file, blank lines and comments included, or the entries of a HAR. */
type CorpusCounts = { lines: number; requests: number; skipped: Partial<Record<SkipReason, number>> };

/**
 * The requests in a file of traffic: an access log, a log in JSON lines, a list of URLs or a HAR. They are read while they are taken, once;
 * the counts grow meanwhile. Where the file cannot be read, an error is thrown that names the file and quotes no part of it.
 */
export const readCorpus = (
  file: string,
  mapper: TrafficMapper,
): { requests: AsyncIterable<CorpusRequest>; counts: CorpusCounts } => {
  const counts: CorpusCounts = { lines: 0, requests: 0, skipped: {} };
  const skip = (reason: SkipReason): undefined => {
    counts.skipped[reason] = (counts.skipped[reason] ?? 0) + 1;
  };
  const requestOf = (traffic: Traffic | "nothing" | undefined): CorpusRequest | undefined => {
    if (traffic === "nothing") return undefined;
    const mapped = traffic ? mapTraffic(mapper, traffic) : { skipped: "not understood" as const };
    if ("skipped" in mapped) return skip(mapped.skipped);
    counts.requests++;
    return mapped.request;
  };

  const requests = async function* (): AsyncGenerator<CorpusRequest> {
    const { beginning, whole } = await opened(file);
    if (isHar(beginning)) {
      const entries = harTraffic(await textOf(whole, file));
      if (entries === undefined) throw new Error(`${file} begins like a HAR, but is none.`);
      for (const entry of entries) {
        counts.lines++;
        const request = requestOf(entry);
        if (request) yield request;
      }
      return;
    }
    for await (const batch of linesOf(whole, MAX_LINE))
      for (const line of batch) {
        counts.lines++;
        const request = line === undefined ? skip("too long") : requestOf(trafficOfLine(line));
        if (request) yield request;
      }
  };
  return { requests: requests(), counts };
};

/** The beginning of a file, and the whole of it: a pipe can be read only once. */
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
      // A reader that stops within the beginning never opened the rest.
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

/** The lines of a stream, in batches. `undefined` stands for a line of more than `maxBytes`, which is not collected. */
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
