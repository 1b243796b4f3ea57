import { z } from "zod";
import type { Invalidation } from "../../cache/sharedTier.ts";
import { parseJson } from "../../rules/parseJson.ts";

/** The message of a gateway to the others: its id, an invalidation, and the epoch that begins with it. */
export type InvalidationMessage = { from: string; epoch: string; drop: Invalidation };

// Strict: this version does not know the meaning of further fields.
const schema: z.ZodType<InvalidationMessage> = z.strictObject({
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

/** The message that a text is; `undefined` if this version cannot read it. */
export const parseMessage = (text: string): InvalidationMessage | undefined => schema.safeParse(parseJson(text)).data;

/** Counts the gateways that have acknowledged a message. */
export const openAcknowledgements = () => {
  const waiting = new Map<string, { count: number; receivers: number; done: () => void }>();
  const settle = (message: string) => {
    const { count = 0, receivers = 0, done } = waiting.get(message) ?? {};
    if (count >= receivers) done?.();
  };
  return {
    /** Begins to count; called before the message is sent. */
    expect: (message: string) => void waiting.set(message, { count: 0, receivers: Infinity, done: () => undefined }),
    /** One gateway has acknowledged it. Ignored for a message that is not expected. */
    received(message: string): void {
      const entry = waiting.get(message);
      if (entry === undefined) return;
      entry.count++;
      settle(message);
    },
    /** Resolves when so many gateways have acknowledged it. */
    from: (message: string, receivers: number) =>
      new Promise<void>((resolve) => {
        const entry = waiting.get(message);
        if (entry === undefined) return resolve();
        Object.assign(entry, { receivers, done: resolve });
        return settle(message);
      }),
    /** Stops counting. */
    forget: (message: string) => void waiting.delete(message),
  };
};

/** More pending invalidations become a single one of everything. */
const MAX_PENDING = 1000;

/** Invalidations that Redis has not confirmed, in order. */
export const openPendingInvalidations = () => {
  let pending: Invalidation[] = [];
  return {
    add(one: Invalidation): void {
      pending.push(one);
      if (pending.length <= MAX_PENDING) return;
      // The writes behind them may still be running.
      const hold = Math.max(...pending.map((each) => each.hold ?? 0));
      pending = [{ all: true, ...(hold > 0 ? { hold } : {}) }];
    },
    first: () => pending[0],
    /** Removes a confirmed invalidation. Meanwhile all of them may have become a single one. */
    done(one: Invalidation): void {
      if (pending[0] === one) pending.shift();
    },
  };
};
