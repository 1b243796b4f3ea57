import { openByteBudget } from "../../operation/index.ts";
import type { Coding, Entry } from "./entry.ts";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { LRUCache } from "lru-cache";

/** The bytes of the shortest body that is compressed: a shorter body fits into one packet anyway. */
export const MIN_BODY = 860;

/**
 * Bytes of all bodies that may be compressed at the same time; each takes up to three times its length in memory. A
 * body beyond it is not queued: the next hit tries again.
 */
const MAX_COMPRESSING = 32 * 1024 ** 2;

type CompressedStore = {
  holds(key: string, entry: Entry): boolean;
  setCoding(key: string, entry: Entry, coding: Coding, content: Buffer): unknown;
};

/**
 * Opens the background compression of a store's entries, in the codings that requests ask for. Drops a result if the
 * store no longer holds its entry.
 */
export const openCompression = (store: CompressedStore, onError: (error: unknown) => void) => {
  const budget = openByteBudget(MAX_COMPRESSING);

  const compressInto = async (key: string, entry: Entry, coding: Coding): Promise<void> => {
    try {
      const bytes = await compress(entry.body, coding);
      if (bytes !== undefined) store.setCoding(key, entry, coding, bytes);
    } catch (error) {
      onError(error);
    } finally {
      budget.release(entry.body.length);
      const { [coding]: _, ...others } = entry.codingState ?? {};
      entry.codingState = entry.coded[coding] ? others : { ...others, [coding]: "useless" };
    }
  };

  /** Resolves when the entry has this coding, or cannot have it now; `undefined` if there is nothing to wait for. */
  const request = (key: string, entry: Entry, coding: Coding): Promise<void> | undefined => {
    const { body, coded, codingState } = entry;
    if (body.length < MIN_BODY || coded[coding] || codingState?.[coding] || !store.holds(key, entry)) return undefined;
    if (!budget.take(body.length)) return undefined;
    entry.codingState = { ...codingState, [coding]: "pending" };
    return compressInto(key, entry, coding);
  };

  return {
    /** Lets replies ask for codings of this entry, which was just stored. */
    offer(key: string, entry: Entry): void {
      if (entry.body.length >= MIN_BODY) entry.onCodingWanted = (coding) => void request(key, entry, coding);
    },
    request,
  };
};

const codings: readonly Coding[] = ["br", "gzip"];

const readAcceptEncoding = (header: string): readonly Coding[] => {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((side) => side.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    weights.set(name === "x-gzip" ? "gzip" : name, weight === undefined ? 1 : Number(weight));
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get("*") ?? 0;
  const identity = weights.get("identity") ?? 0;
  return codings
    .filter((coding) => weightOf(coding) > 0 && weightOf(coding) >= identity)
    .toSorted((a, b) => weightOf(b) - weightOf(a));
};

/** The codings by header: clients send only a handful of different headers. */
const known = new LRUCache<string, readonly Coding[]>({ max: 200 });
const noCodings: readonly Coding[] = [];

/**
 * The codings that a client accepts, the preferred one first, by its `Accept-Encoding` (RFC 9110, section 12.5.3).
 * Identity is always acceptable.
 */
export const acceptedCodings = (header: string | undefined): readonly Coding[] => {
  if (header === undefined || header === "") return noCodings;
  const cached = known.get(header);
  if (cached) return cached;
  const accepted = readAcceptEncoding(header);
  if (header.length <= 100) known.set(header, accepted);
  return accepted;
};

const compressors: Record<Coding, (body: Buffer, options: object) => Promise<Buffer>> = {
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
};

const optionsFor = (coding: Coding, length: number): object =>
  coding === "gzip"
    ? { level: 6 }
    : {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: 5,
          [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
          [constants.BROTLI_PARAM_SIZE_HINT]: length,
          // A window larger than the body only costs memory.
          [constants.BROTLI_PARAM_LGWIN]: Math.min(22, Math.max(10, Math.ceil(Math.log2(length + 16)))),
        },
      };

/** A copy in a block of memory of its own: zlib and sockets give slices, and a stored slice keeps its whole block. */
export const copyOf = (bytes: Buffer): Buffer => {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
};

/** Compresses in the thread pool, off the event loop. `undefined` if the result is not smaller than the body. */
export const compress = async (body: Buffer, coding: Coding): Promise<Buffer | undefined> => {
  // The output gets one block, no larger than the input: zlib's default is 64 KB for each call.
  const chunkSize = Math.max(64, body.length);
  const bytes = await compressors[coding](body, { chunkSize, ...optionsFor(coding, body.length) });
  return bytes.length < body.length ? copyOf(bytes) : undefined;
};
