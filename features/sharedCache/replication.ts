import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Invalidation, OpenSharedTier } from "../../src/gateway/index.ts";
import { withTimeout } from "../../src/operation/index.ts";
import { parseJson } from "../../src/catalogue/index.ts";
import { connectRedis } from "../../libraries/stores/redis.ts";
import { LEASE_MS, openReplicationLease, type SharedTierEvent } from "./replicationLease.ts";
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
 * Marks those groups of a message whose lists are left for failures of legacy. A version that does
 * not know this mark deletes the lists.
 */
const LISTS = "lists ";

const toMessage = ({ lists, ...drop }: Invalidation): Invalidation =>
  lists === undefined ? drop : { ...drop, groups: [...(drop.groups ?? []), ...lists.map((list) => LISTS + list)] };

const fromMessage = (drop: Invalidation): Invalidation => {
  const { groups = [] } = drop;
  const marked = groups.filter((group) => group.startsWith(LISTS));
  if (marked.length === 0) return drop;
  const lists = marked.map((group) => group.slice(LISTS.length));
  return { ...drop, groups: groups.filter((group) => !marked.includes(group)), lists };
};

/** The settings of the replication between the gateways on one Redis. */
export type ReplicationSettings = {
  url: string;
  /** The most milliseconds that a request waits for Redis. */
  timeout: number;
  build: string;
  /** Milliseconds; see `openReplicationLease`. */
  waitForOthers?: number | undefined;
  onEvent: (event: SharedTierEvent, about: Record<string, unknown>) => void;
};

/** More pending invalidations become a single invalidation of everything. */
const MAX_PENDING = 1000;

/** An invalidation on its way: Redis confirms it, then each gateway acknowledges it. */
type Delivery = {
  drop: Invalidation;
  /** When it began. */
  since: number;
  isRepeated: boolean;
  confirmed: PromiseWithResolvers<void>;
  acknowledged: PromiseWithResolvers<void>;
};

const newDelivery = (drop: Invalidation, since = performance.now()): Delivery => ({
  drop,
  since,
  isRepeated: false,
  confirmed: Promise.withResolvers(),
  acknowledged: Promise.withResolvers(),
});

/** Sends invalidations between the gateways on one Redis. It connects in the background. */
export const openReplication = (
  { url, timeout, onEvent, build, waitForOthers }: ReplicationSettings,
  owner: Parameters<OpenSharedTier>[0],
) => {
  const self = randomUUID();
  const channels = channelsOf(url);
  /** Invalidations that Redis has refused, or not confirmed in time, in order: with the first of them a gap begins. */
  let pending: Delivery[] = [];
  /** Start of the first invalidation that another gateway did not acknowledge in time; none was acknowledged since. */
  let unacknowledgedSince: number | undefined;
  /** Called for each gateway that has acknowledged the invalidation of an epoch. */
  const onAcknowledged = new LRUCache<string, () => void>({ max: MAX_PENDING });
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

  /** Another gateway waits for the invalidations of this gateway. */
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
      for (let [delivery] = pending; delivery; [delivery] = pending) {
        await send(delivery);
        // Meanwhile all of them may have been joined into a single invalidation.
        if (pending[0] === delivery) pending.shift();
      }
    },
    callOthers: () => connection.publish(channels.calls, self),
    distrust: () => owner.onLost(),
    async empty(epochs) {
      await announce({}, randomUUID(), [EVERYTHING], epochs);
    },
  });

  const send = async (delivery: Delivery): Promise<void> => {
    const epoch = randomUUID();
    let [count, receivers] = [0, Infinity];
    const acknowledge = (acknowledgements: number): void => {
      count += acknowledgements;
      if (count < receivers) return;
      onAcknowledged.delete(epoch);
      unacknowledgedSince = undefined;
      delivery.acknowledged.resolve();
    };
    onAcknowledged.set(epoch, () => acknowledge(1));
    receivers = await announce(delivery.drop, epoch);
    delivery.confirmed.resolve();
    // Some gateways may have acknowledged it already.
    acknowledge(0);
  };
  /** Sends it again with each heartbeat until Redis has confirmed it. A repetition does no harm. */
  const repeat = (delivery: Delivery): void => {
    if (delivery.isRepeated) return;
    delivery.isRepeated = true;
    pending.push(delivery);
    if (pending.length <= MAX_PENDING) return;
    // The writes behind them may still be running.
    const hold = Math.max(...pending.map(({ drop }) => drop.hold ?? 0));
    pending = [newDelivery({ all: true, hold }, pending[0]?.since)];
  };
  /** Milliseconds until each gateway that has heard nothing since this moment has lost its lease. */
  const leaseLeft = (since: number): number => Math.max(0, since + LEASE_MS - performance.now());

  return {
    run: connection.run,
    /** True if all invalidations until a moment ago have arrived here. */
    isTrusted: () => lease.isHeld(),
    /** Invalidations of this gateway wait until Redis answers again. */
    isPending: () => pending.length > 0,
    /** Changes with every invalidation. */
    epoch: lease.epoch,
    /**
     * Resolves when all gateways have acknowledged it, or when the lease of those that have not is over. Only the first
     * invalidations of a gap wait for the end of leases.
     */
    async invalidate(drop: Invalidation): Promise<"done" | "unacknowledged" | "failed"> {
      const delivery = newDelivery(drop);
      const { since, confirmed, acknowledged } = delivery;
      const gapSince = pending[0]?.since ?? since;
      if (pending.length > 0) repeat(delivery);
      else send(delivery).catch(() => repeat(delivery));
      if ((await withTimeout(confirmed.promise, leaseLeft(gapSince))) === "late") {
        repeat(delivery);
        return "failed";
      }
      const left = Math.max(timeout, leaseLeft(unacknowledgedSince ?? since));
      if ((await withTimeout(acknowledged.promise, left)) !== "late") return "done";
      unacknowledgedSince ??= since;
      return "unacknowledged";
    },
    close(): void {
      lease.close();
      connection.close();
    },
  };
};
