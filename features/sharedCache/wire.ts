import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { z } from "zod";
import { copyOf, type Entry, entryOf, tagOf } from "../../src/gateway/index.ts";
import { monotonic } from "../../src/operation/index.ts";

/** The first byte of an entry: the version of the format. */
const VERSION = 3;

/**
 * A value that Node sends in a header. The content of Redis is checked like a client's request: another
 * program may write there.
 */
const headerValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/);

// Failed refreshes are not sent: each gateway counts its own. Moments are milliseconds since the epoch.
const headSchema = z.object({
  endpoint: z.string(),
  status: z.int().min(200).max(599),
  judged: z.int().optional(),
  tag: z.string(),
  type: headerValue.optional(),
  headers: z.record(z.string().regex(/^[\w-]{1,100}$/), headerValue).optional(),
  storedAt: z.number(),
  freshUntil: z.number(),
  lifetimes: z.object({ fresh: z.number(), staleWhileRevalidate: z.number(), staleIfError: z.number() }),
  groups: z.array(headerValue),
  isBrotli: z.boolean(),
});

const decompress = promisify(brotliDecompress);

/** The most bytes of a decompressed body: the default limit of legacy's answers. */
const MAX_BODY = 32 * 1024 ** 2;

/** An entry as bytes: the version, the length of a JSON head, the head, the body (compressed if that is smaller). */
export const toWire = (entry: Entry): Buffer => {
  const { br } = entry.coded;
  const storedAt = monotonic.toStored(entry.storedAt);
  const moments = { storedAt, freshUntil: storedAt + entry.freshUntil - entry.storedAt };
  const head = Buffer.from(JSON.stringify(headSchema.parse({ ...entry, ...moments, isBrotli: br !== undefined })));
  const start = Buffer.alloc(5);
  start.writeUInt8(VERSION, 0);
  start.writeUInt32BE(head.length, 1);
  return Buffer.concat([start, head, br ?? entry.body]);
};

/**
 * Reads an entry; `undefined` if it was stored in the future.
 *
 * @throws If another version wrote it, if the bytes have changed, or if the body decompresses to too many.
 */
export const fromWire = async (bytes: Buffer): Promise<Entry | undefined> => {
  if (bytes.readUInt8(0) !== VERSION) throw new Error("written by another version");
  const end = 5 + bytes.readUInt32BE(1);
  if (end > bytes.length) throw new Error("cut off");
  const head = headSchema.parse(JSON.parse(bytes.toString("utf8", 5, end)));
  const { isBrotli, status, judged, tag, type, headers, freshUntil, ...about } = head;
  const storedAt = monotonic.fromStored(about.storedAt);
  if (storedAt === undefined) return undefined;
  const bodyBytes = bytes.subarray(end);
  const body = copyOf(isBrotli ? await decompress(bodyBytes, { maxOutputLength: MAX_BODY }) : bodyBytes);
  if (tagOf(body) !== tag) throw new Error("not the bytes that were written");
  const coded = isBrotli ? { br: copyOf(bodyBytes) } : {};
  const entry = entryOf(
    { status, tag, body, ...(judged && { judged }), ...(type !== undefined && { type }), ...(headers && { headers }) },
    { ...about, storedAt },
  );
  return { ...entry, coded, freshUntil: storedAt + freshUntil - about.storedAt };
};
