import { z } from "zod";
import type { Invalidation } from "../../src/gateway/index.ts";
import { parseJson } from "../../src/catalogue/index.ts";

/**
 * The message of a gateway to the others: its id, an invalidation, and the epoch that begins with it. An invalidation
 * that is empty says that Redis was emptied, because some invalidations may be lost.
 */
type InvalidationMessage = { from: string; epoch: string; drop: Invalidation };

// Strict: this version does not know the meaning of further fields.
const messageSchema: z.ZodType<InvalidationMessage> = z.strictObject({
  from: z.string(),
  epoch: z.string(),
  drop: z.strictObject({
    keys: z.array(z.string()).optional(),
    groups: z.array(z.string()).optional(),
    endpoint: z.string().optional(),
    all: z.literal(true).optional(),
    soft: z.boolean().optional(),
    hold: z.number().optional(),
  }),
});

/**
 * Marks those groups of a message whose lists are left for failures of legacy. A version that does
 * not know this mark deletes the lists.
 */
const LISTS = "lists ";

/** Writes a message. */
export const writeMessage = ({ drop: { lists, ...drop }, ...message }: InvalidationMessage): string => {
  const marked = lists && [...(drop.groups ?? []), ...lists.map((list) => LISTS + list)];
  return JSON.stringify({ ...message, drop: { ...drop, groups: marked ?? drop.groups } });
};

/** Reads a message; `undefined` if this version does not know all of it. */
export const readMessage = (text: string): InvalidationMessage | undefined => {
  const message = messageSchema.safeParse(parseJson(text)).data;
  if (message === undefined) return undefined;
  const { groups = [] } = message.drop;
  const marked = groups.filter((group) => group.startsWith(LISTS));
  if (marked.length === 0) return message;
  const lists = marked.map((group) => group.slice(LISTS.length));
  return { ...message, drop: { ...message.drop, groups: groups.filter((group) => !marked.includes(group)), lists } };
};
