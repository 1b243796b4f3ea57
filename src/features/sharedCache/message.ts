import { z } from "zod";
import type { Invalidation } from "../../cache/sharedTier.ts";
import { readAs } from "./texts.ts";

/** What gateways tell one another: `from` one, a drop, and the epoch since. */
export type Message = { from: string; epoch: string; drop: Invalidation };

// Strict: what another version means by more than this is not guessed at.
const schema: z.ZodType<Message> = z.strictObject({
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

/** Nothing where it is none of ours. */
export const messageFrom = (text: string): Message | undefined => readAs(schema, text);
