import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { z } from "zod";
import { type Entry, entryOf } from "../../cache/entry.ts";
import { compressed, tagOf } from "../../cache/representation.ts";

/** The first byte; what another version has written has another one. */
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

/** An entry as bytes: the version, the length of a JSON head, the head, the body (compressed where that is smaller). */
export const toWire = ({ endpoint, status, tag, headers, storedAt, freshUntil, ...entry }: Entry): Buffer => {
  const { br } = entry.coded;
  // What may turn private is known to each gateway by the endpoint.
  const { mayTurnPrivate: _, ...windows } = entry.lifetimes;
  const about = { endpoint, status, tag, headers, storedAt, freshUntil, windows, groups: entry.groups };
  const head = Buffer.from(JSON.stringify({ ...about, isBrotli: br !== undefined }));
  const start = Buffer.alloc(5);
  start.writeUInt8(VERSION, 0);
  start.writeUInt32BE(head.length, 1);
  return Buffer.concat([start, head, br ?? entry.body]);
};

/** The entry that bytes are. Rejects if they were not written by this version, or are not what was written. */
export const fromWire = async (bytes: Buffer): Promise<Entry> => {
  if (bytes.readUInt8(0) !== VERSION) throw new Error("written by another version");
  const end = 5 + bytes.readUInt32BE(1);
  if (end > bytes.length) throw new Error("cut off");
  const head = headSchema.parse(JSON.parse(bytes.toString("utf8", 5, end)));
  const { isBrotli, headers, windows: lifetimes, status, tag, freshUntil, ...about } = head;
  const bodyBytes = bytes.subarray(end);
  const plain = isBrotli ? await decompress(bodyBytes) : bodyBytes;
  // A block of its own: the reply that it is part of can be freed.
  const body = Buffer.allocUnsafeSlow(plain.length);
  plain.copy(body);
  if (tagOf(body) !== tag) throw new Error("not the bytes that were written");
  const coded = await compressed(body, isBrotli ? bodyBytes : undefined);
  const representation = { status, tag, body, coded, ...(headers ? { headers } : {}) };
  return { ...entryOf(representation, { ...about, lifetimes }), freshUntil };
};
