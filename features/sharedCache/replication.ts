import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Invalidation, OpenSharedTier } from "../../src/gateway/index.ts";
import { withTimeout } from "../../src/operation/index.ts";
import { parseJson } from "../../src/catalogue/index.ts";
import { connectRedis } from "../../libraries/stores/redis.ts";
import { openReplicationLease, type SharedTierEvent } from "./replicationLease.ts";
import { channelsOf, EPOCH, EPOCHS, EVERYTHING, namesOf, scripts } from "./scripts.ts";

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
 * Marks, among the groups of a message, those whose lists are left for legacy's failure. A version that does
 * not know it deletes them.
 */
const LISTS = "lists ";

const toMessage = ({ lists, ...drop }: Invalidation): Invalidation =>
  lists === undefined ? drop : { ...drop, groups: [...(drop.groups ?? []), ...lists.map((one) => LISTS + one)] };

const fromMessage = (drop: Invalidation): Invalidation => {
  const { groups = [] } = drop;
  const marked = groups.filter((one) => one.startsWith(LISTS));
  if (marked.length === 0) return drop;
  const lists = marked.map((one) => one.slice(LISTS.length));
  return { ...drop, groups: groups.filter((one) => !marked.includes(one)), lists };
};

/** What gateways on one Redis share. */
export type ReplicationSettings = {
  url: string;
  /** Milliseconds that a request waits for Redis at most. */
  timeout: number;
  build: string;
  /** Milliseconds; see `openReplicationLease`. */
  waitForOthers?: number | undefined;
  onEvent: (event: SharedTierEvent, about: Record<string, unknown>) => void;
};

/** More pending invalidations become a single one of everything. */
const MAX_PENDING = 1000;

/** Sends invalidations between the gateways on one Redis. It connects in the background. */
export const openReplication = (
  { url, timeout, onEvent, build, waitForOthers }: ReplicationSettings,
  owner: Parameters<OpenSharedTier>[0],
) => {
  const self = randomUUID();
  const channels = channelsOf(url);
  /** Invalidations that Redis has not confirmed, in order. */
  let pending: Invalidation[] = [];
  /** Called for each gateway that has acknowledged the invalidation of an epoch. */
  const onAcknowledged = new Map<string, () => void>();
  const connection = connectRedis({
    url,
    channels: [channels.invalidations, channels.calls, channels.acknowledgementsOf(self)],
    onListening: () => lease.beat(),
    onDeaf: () => lease.lose("the subscription broke"),
    onError: (error) => lease.failed(error),
    onSetAside: (key) => onEvent("redis_key_set_aside", { key }),
    onMessage(text, channel) {
      if (channel === channels.calls) return onCall(text);
      // An epoch, or the id of a gateway that answers a call.
      if (channel !== channels.invalidations) return (onAcknowledged.get(text) ?? lease.answered)(text);
      const message = messageSchema.safeParse(parseJson(text)).data;
      if (message === undefined) return lease.miss("a message could not be read");
      const { from, epoch, drop } = message;
      lease.announced(epoch);
      if (from === self) return onAcknowledged.get(epoch)?.();
      if (Object.keys(drop).length > 0) owner.onInvalidation(fromMessage(drop));
      else owner.onLost();
      return connection.publish(channels.acknowledgementsOf(from), epoch);
    },
  });

  /** Another gateway waits for what this one has to send. */
  const onCall = (gateway: string): void => {
    if (gateway === self || !lease.called(gateway) || pending.length > 0) return;
    connection.publish(channels.acknowledgementsOf(gateway), self);
  };

  /**
   * Deletes these names in Redis; resolves with how many gateways receive the message. `known`: epochs that Redis knows
   * from then on.
   */
  const announce = async (
    drop: Invalidation,
    epoch: string,
    names = namesOf(build, drop),
    known: readonly string[] = [],
  ): Promise<number> => {
    const message = JSON.stringify({ from: self, epoch, drop: toMessage(drop) } satisfies InvalidationMessage);
    const about = [channels.invalidations, message, epoch, ...known];
    const receivers = await connection.run(scripts.invalidate, [EPOCH, EPOCHS, ...names], about);
    lease.confirmed(epoch);
    return Number(receivers);
  };

  const lease = openReplicationLease({
    isListening: () => connection.isListening(),
    renew: () => connection.renew(),
    onEvent,
    waitForOthers,
    async ask(epochs) {
      const about = [randomUUID(), channels.allAcknowledgements, ...epochs];
      const reply = await connection.run(scripts.heartbeat, [EPOCH, EPOCHS], about);
      const [epoch, listeners, unknown] = reply as [Buffer | null, Buffer[], Buffer[]];
      const listening = listeners.map((channel) => channels.gatewayOf(String(channel)));
      return {
        epoch: epoch?.toString(),
        unknown: unknown.map(String),
        others: listening.filter((id) => id !== self),
      };
    },
    async flush() {
      for (let [drop] = pending; drop; [drop] = pending) {
        await announce(drop, randomUUID());
        // Meanwhile all of them may have become a single one.
        if (pending[0] === drop) pending.shift();
      }
    },
    callOthers: () => connection.publish(channels.calls, self),
    distrust: () => owner.onLost(),
    async empty(epochs) {
      await announce({}, randomUUID(), [EVERYTHING], epochs);
    },
  });

  const attempt = async (drop: Invalidation, epoch: string) => {
    if (pending.length > 0) return "late";
    const until = performance.now() + timeout;
    const { promise: acknowledged, resolve } = Promise.withResolvers<void>();
    let [count, receivers] = [0, Infinity];
    onAcknowledged.set(epoch, () => {
      if (++count >= receivers) resolve();
    });
    const announced = await withTimeout(announce(drop, epoch), timeout);
    if (announced === "late") return "late";
    // Redis has invalidated it. Now every gateway has to acknowledge it; some may have done so already.
    receivers = announced;
    if (count >= receivers) return "done";
    const done = await withTimeout(acknowledged, Math.max(1, until - performance.now()));
    return done === "late" ? "unacknowledged" : "done";
  };
  return {
    run: connection.run,
    /** Whether all invalidations up to a moment ago have arrived here. */
    isTrusted: () => lease.isHeld(),
    /** Invalidations of this gateway wait until Redis answers again. */
    isPending: () => pending.length > 0,
    /** Changes with every invalidation. */
    epoch: lease.epoch,
    /**
     * Resolves when all gateways have acknowledged it, or with the reason why that is not known; it is then repeated.
     */
    async invalidate(drop: Invalidation): Promise<"done" | "unacknowledged" | "late" | "failed"> {
      const epoch = randomUUID();
      const result = await attempt(drop, epoch).catch(() => "failed" as const);
      onAcknowledged.delete(epoch);
      if (result !== "late" && result !== "failed") return result;
      // Repeated until it has arrived; twice does no harm.
      pending.push(drop);
      // The writes behind them may still be running.
      if (pending.length > MAX_PENDING)
        pending = [{ all: true, hold: Math.max(...pending.map(({ hold = 0 }) => hold)) }];
      return result;
    },
    close(): void {
      lease.close();
      connection.close();
    },
  };
};
