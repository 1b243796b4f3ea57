import { hash } from "node:crypto";
import type { Coding } from "./codings.ts";

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
