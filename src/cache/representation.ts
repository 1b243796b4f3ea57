import { hash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Coding } from "./encoding.ts";

/** An answer's bytes, made once: as they are, and in each coding that makes them smaller. */
export type Representation = {
  status: number;
  body: Buffer;
  coded: Partial<Record<Coding, Buffer>>;
  /** The hash of the bytes, without quotes; the tag of a coding has its name behind it. */
  tag: string;
  /** Headers of this answer alone. */
  headers?: Record<string, string>;
};

/** What fits one packet anyway gains nothing. */
const WORTH_IT = 860;

const toBrotli = promisify(brotliCompress) as (body: Buffer, options: object) => Promise<Buffer>;
const toGzip = promisify(gzip) as (body: Buffer, options: object) => Promise<Buffer>;

/** One block for what comes out, no larger than what goes in: by default zlib takes 64 KB for each. */
const blockFor = (body: Buffer): { chunkSize: number } => ({ chunkSize: Math.max(64, body.length) });

const brotli = (body: Buffer): Promise<Buffer> =>
  toBrotli(body, {
    ...blockFor(body),
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 5,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
      // A window larger than the body only costs memory.
      [constants.BROTLI_PARAM_LGWIN]: Math.min(22, Math.max(10, Math.ceil(Math.log2(body.length + 16)))),
    },
  });

/** Exactly as long as its content: node and zlib hand out slices of larger blocks, which a kept slice would hold on to. */
const exact = (bytes: Buffer): Buffer => {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
};

/** The bytes of a text, with their memory for themselves; bytes are what they are. */
export const bytesOf = (text: string | Buffer): Buffer => {
  if (typeof text !== "string") return text;
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
};

/** `tag`: of these bytes, where another thread has made it already. */
export type Content = { status: number; body: string | Buffer; tag?: string; headers?: Record<string, string> };

/** An answer that is not kept: its bytes as they are. */
export const untagged = ({ status, body, headers }: Content): Representation => ({
  status,
  body: bytesOf(body),
  coded: {},
  tag: "",
  ...(headers ? { headers } : {}),
});

/** An answer that may be stored: its bytes with their tag, in no coding yet. */
export const tagged = (told: Content): Representation => {
  const plain = untagged(told);
  return { ...plain, tag: told.tag ?? tagOf(plain.body) };
};

/** The strong validator of these bytes. */
export const tagOf = (bytes: Buffer): string => hash("sha256", bytes, "base64url").slice(0, 22);

/** The bytes in every coding that makes them smaller. Compression runs beside the event loop. */
export const compressed = async (bytes: Buffer, given?: Buffer): Promise<Representation["coded"]> => {
  if (bytes.length < WORTH_IT) return {};
  const [br, gz] = await Promise.all([given ?? brotli(bytes), toGzip(bytes, { ...blockFor(bytes), level: 6 })]);
  return {
    ...(br.length < bytes.length ? { br: exact(br) } : {}),
    ...(gz.length < bytes.length ? { gzip: exact(gz) } : {}),
  };
};
