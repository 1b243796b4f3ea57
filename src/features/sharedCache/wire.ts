import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { z } from "zod";
import { type Entry, entryOf } from "../../cache/entry.ts";
import { copyOf } from "../../cache/compression.ts";
import { tagOf } from "../../cache/reply.ts";

/** The first byte of an entry: the version of the format. */
const VERSION = 1;

const headSchema = z.strictObject({
  endpoint: z.string(),
  status: z.int(),
  tag: z.string(),
  headers: z.record(z.string(), z.string()).optional(),
  storedAt: z.number(),
  freshUntil: z.number(),
  windows: z.strictObject({ fresh: z.number(), stale: z.number(), staleIfError: z.number() }),
  groups: z.array(z.string()),
  isBrotli: z.boolean(),
});

const decompress = promisify(brotliDecompress);

/** Bytes of a decompressed body at most: as many as legacy's answers have by default. */
const MAX_BODY = 32 * 1024 ** 2;

/** An entry as bytes: the version, the length of a JSON head, the head, the body (compressed where that is smaller). */
export const toWire = ({
  endpoint,
  status,
  tag,
  headers,
  storedAt,
  freshUntil,
  lifetimes,
  groups,
  body,
  coded: { br },
}: Entry): Buffer => {
  // Whether a resource may turn private is not sent: each gateway finds it by the endpoint.
  const { fresh, staleWhileRevalidate: stale, staleIfError } = lifetimes;
  const about = {
    endpoint,
    status,
    tag,
    headers,
    storedAt,
    freshUntil,
    windows: { fresh, stale, staleIfError },
    groups,
    isBrotli: br !== undefined,
  };
  const head = Buffer.from(JSON.stringify(about));
  const start = Buffer.alloc(5);
  start.writeUInt8(VERSION, 0);
  start.writeUInt32BE(head.length, 1);
  return Buffer.concat([start, head, br ?? body]);
};

/** Reads an entry. Rejects if another version wrote it, if the bytes have changed, or if they stand for too many. */
export const fromWire = async (bytes: Buffer): Promise<Entry> => {
  if (bytes.readUInt8(0) !== VERSION) throw new Error("written by another version");
  const end = 5 + bytes.readUInt32BE(1);
  if (end > bytes.length) throw new Error("cut off");
  const { isBrotli, headers, windows, ...rest } = headSchema.parse(JSON.parse(bytes.toString("utf8", 5, end)));
  const { fresh, stale: staleWhileRevalidate, staleIfError } = windows;
  const about = { ...rest, lifetimes: { fresh, staleWhileRevalidate, staleIfError } };
  const bodyBytes = bytes.subarray(end);
  const plain = isBrotli ? await decompress(bodyBytes, { maxOutputLength: MAX_BODY }) : bodyBytes;
  const body = copyOf(plain);
  const { status, tag, freshUntil } = about;
  if (tagOf(body) !== tag) throw new Error("not the bytes that were written");
  const representation = {
    status,
    tag,
    body,
    coded: isBrotli ? { br: copyOf(bodyBytes) } : {},
    ...(headers ? { headers } : {}),
  };
  return { ...entryOf(representation, about), freshUntil };
};
