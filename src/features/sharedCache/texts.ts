import type { z } from "zod";

/** A reply with texts in place of bytes. */
export const asTexts = (reply: unknown): unknown => {
  if (Array.isArray(reply)) return reply.map(asTexts);
  return reply instanceof Buffer ? reply.toString() : reply;
};

/** What a text of JSON says; nothing where it is none of ours. */
export const readAs = <T>(schema: z.ZodType<T>, text: string): T | undefined => {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};
