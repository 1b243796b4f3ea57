import type { IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { contentCoding } from "./answerHeaders.ts";

/** An answer's head, and the first chunk of its body (empty where it has none). */
export type Beginning = { status: number; headers: IncomingHttpHeaders; body: Buffer };

const nothing = Buffer.alloc(0);

/** Bytes at most of a decoded body. */
const maxOutputLength = 1024 * 1024;

/** A body may be cut: each decodes what is there. */
const decoders = new Map<string, (body: Buffer) => Buffer>([
  ["gzip", (body) => gunzipSync(body, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength })],
  ["deflate", (body) => inflateSync(body, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength })],
  ["br", (body) => brotliDecompressSync(body, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength })],
  ["zstd", (body) => zstdDecompressSync(body, { finishFlush: constants.ZSTD_e_flush, maxOutputLength })],
]);

/**
 * The beginning of an answer's body, decoded; empty where it cannot be. A coding that Node does
 * not know stays as it is.
 */
export const plainBody = ({ headers, body }: Beginning): Buffer => {
  const decode = decoders.get(contentCoding(headers));
  try {
    return decode?.(body) ?? body;
  } catch {
    return nothing;
  }
};

/** Bytes of a coded body that are decoded: a small part of a bomb is small. */
const LOOKED_AT = 1024;

/**
 * The first bytes of an answer's body, decoded; `undefined` where they cannot be, or where too few of them have come.
 */
export const decodedBeginning = ({ headers, body }: Beginning): Buffer | undefined => {
  const first = body.subarray(0, LOOKED_AT);
  const coding = contentCoding(headers);
  if (coding === "" || body.length === 0) return first;
  try {
    const decoded = decoders.get(coding)?.(first);
    return decoded?.length === 0 ? undefined : decoded;
  } catch {
    return undefined;
  }
};
