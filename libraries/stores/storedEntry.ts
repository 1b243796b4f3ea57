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
  groups: z.array(headerValue).readonly(),
  isBrotli: z.boolean(),
});

const decompress = promisify(brotliDecompress);

/** All names by which a stored entry can be invalidated. */
export const namesFor = ({ groups, endpoint }: Entry): string[] => [...groups, `@${endpoint}`, "*"];

type Head = Record<keyof z.input<typeof headSchema>, unknown>;

/** The most bytes of a decompressed body: the default limit of legacy's answers. */
const MAX_BODY = 32 * 1024 ** 2;

/** An entry as a store keeps it: all but its body as JSON, and its body, compressed if that is smaller. */
export const toStored = (entry: Entry): { head: string; body: Buffer } => {
  const { br } = entry.coded;
  const { endpoint, status, judged, tag, type, headers, lifetimes, groups } = entry;
  const storedAt = monotonic.toStored(entry.storedAt);
  const freshUntil = storedAt + entry.freshUntil - entry.storedAt;
  const isBrotli = br !== undefined;
  const times = { storedAt, freshUntil, lifetimes };
  const head: Head = { endpoint, status, judged, tag, type, headers, ...times, groups, isBrotli };
  return { head: JSON.stringify(head), body: br ?? entry.body };
};

/** The same as bytes: the version, the length of the head, the head, the body. */
export const toWire = (entry: Entry): Buffer => {
  const { head, body } = toStored(entry);
  const headBytes = Buffer.from(head);
  const start = Buffer.alloc(5);
  start.writeUInt8(VERSION, 0);
  start.writeUInt32BE(headBytes.length, 1);
  return Buffer.concat([start, headBytes, body]);
};

/**
 * Reads the bytes of an entry; `undefined` if it was stored in the future.
 *
 * @throws If another version wrote it, if the bytes have changed, or if the body decompresses to too many.
 */
export const fromWire = async (bytes: Buffer): Promise<Entry | undefined> => {
  if (bytes.readUInt8(0) !== VERSION) throw new Error("written by another version");
  const end = 5 + bytes.readUInt32BE(1);
  if (end > bytes.length) throw new Error("cut off");
  return fromStored(bytes.toString("utf8", 5, end), bytes.subarray(end));
};

/** The same for the head and the body of an entry. */
export const fromStored = async (headText: string, bodyBytes: Buffer): Promise<Entry | undefined> => {
  const head = headSchema.parse(JSON.parse(headText));
  const { isBrotli, status, judged, tag, type, headers, freshUntil, ...about } = head;
  const storedAt = monotonic.fromStored(about.storedAt);
  if (storedAt === undefined) return undefined;
  const body = copyOf(isBrotli ? await decompress(bodyBytes, { maxOutputLength: MAX_BODY }) : bodyBytes);
  if (tagOf(body) !== tag) throw new Error("not the bytes that were written");
  const coded = isBrotli ? { br: copyOf(bodyBytes) } : {};
  const entry = entryOf(
    { status, tag, body, ...(judged && { judged }), ...(type !== undefined && { type }), ...(headers && { headers }) },
    { ...about, storedAt },
  );
  return { ...entry, coded, freshUntil: storedAt + freshUntil - about.storedAt };
};
