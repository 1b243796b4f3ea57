import { hash } from "node:crypto";
import type { z } from "zod";
import { parseJson } from "../../rules/parseJson.ts";

/** A Lua script. With its SHA-1 it is sent by that name; Redis gets the whole text only where it does not know the name. */
export type Script = { text: string; sha?: string };

/** A script that is sent by its SHA-1. */
export const script = (text: string): Script => ({ text, sha: hash("sha1", text) });

/** Runs a script; rejects at once without a connection. Texts come back as bytes. */
export type RunScript = (
  script: Script,
  keys: readonly string[],
  args: readonly (string | Buffer)[],
) => Promise<unknown>;

/** A reply with texts in place of bytes. */
export const asTexts = (reply: unknown): unknown => {
  if (Array.isArray(reply)) return reply.map(asTexts);
  return reply instanceof Buffer ? reply.toString() : reply;
};

/** The value that a JSON text has; `undefined` if it is not JSON or does not match the schema. */
export const parseAs = <T>(schema: z.ZodType<T>, text: string): T | undefined => schema.safeParse(parseJson(text)).data;
