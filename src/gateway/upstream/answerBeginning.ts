import type { IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { contentCoding } from "./answerHeaders.ts";

/** An answer's head, and the first chunk of its body (empty if there is no body). */
export type Beginning = { status: number; headers: IncomingHttpHeaders; body: Buffer };

/** The body of an answer without one. */
export const noBytes = Buffer.alloc(0);

/** Bytes that a decoded body may have. */
const maxOutputLength = 1024 * 1024;

/** The decoders by coding. The body may be cut: they decode the bytes that are there. */
const decoders = new Map<string, (body: Buffer) => Buffer>([
  ["gzip", (body) => gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength })],
  ["deflate", (body) => inflateSync(body, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength })],
  ["br", (body) => brotliDecompressSync(body, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength })],
  ["zstd", (body) => zstdDecompressSync(body, { finishFlush: constants.ZSTD_e_flush, maxOutputLength })],
]);

/**
 * The beginning of an answer's body, decoded; empty if it cannot be decoded. A body in a coding that Node does not know
 * is returned as it is.
 */
export const plainBody = ({ headers, body }: Beginning): Buffer => {
  const decode = decoders.get(contentCoding(headers));
  try {
    return decode?.(body) ?? body;
  } catch {
    return noBytes;
  }
};

/** Bytes of a coded body that are decoded: so few bytes of a decompression bomb stay small. */
const SCANNED_BYTES = 1024;

/**
 * The first bytes of an answer's body, decoded; `undefined` if they cannot be decoded, or too few of them have come.
 */
export const decodedBeginning = ({ headers, body }: Beginning): Buffer | undefined => {
  const first = body.subarray(0, SCANNED_BYTES);
  const coding = contentCoding(headers);
  if (coding === "" || body.length === 0) return first;
  try {
    const decoded = decoders.get(coding)?.(first);
    return decoded?.length === 0 ? undefined : decoded;
  } catch {
    return undefined;
  }
};
