import { hash } from "node:crypto";
import type { Coding } from "./codings.ts";

/** An answer's bytes: as they are, and in the codings that were made so far. */
export type Representation = {
  status: number;
  body: Buffer;
  coded: Partial<Record<Coding, Buffer>>;
  /** The strong validator of `body`, without quotes; that of a coding has `-br` or `-gzip` appended. Empty for an answer that is not stored. */
  tag: string;
  /** Headers of this answer alone. */
  headers?: Record<string, string>;
};

/** The bytes of a text, alone in their block of memory; a buffer is returned as it is. */
export const bytesOf = (text: string | Buffer): Buffer => {
  if (typeof text !== "string") return text;
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
};

/** An answer before it is written. `tag`: of these bytes, where another thread has made it already. */
export type Content = { status: number; body: string | Buffer; tag?: string; headers?: Record<string, string> };

/** The representation of an answer that is not stored: it needs no tag. */
export const untagged = ({ status, body, headers }: Content): Representation => ({
  status,
  body: bytesOf(body),
  coded: {},
  tag: "",
  ...(headers ? { headers } : {}),
});

/** The representation of an answer that may be stored: with its tag, in no coding yet. */
export const tagged = (content: Content): Representation => {
  const plain = untagged(content);
  return { ...plain, tag: content.tag ?? tagOf(plain.body) };
};

/** The strong validator of these bytes: 22 characters of a SHA-256. */
export const tagOf = (bytes: Buffer): string => hash("sha256", bytes, "base64url").slice(0, 22);
