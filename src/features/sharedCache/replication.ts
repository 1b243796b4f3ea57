import { randomUUID } from "node:crypto";
import type { Invalidation, OpenSharedTier } from "../../cache/sharedTier.ts";
import { withTimeout } from "../../concurrency/withTimeout.ts";
import { asTexts, connectRedis } from "../../store/redis.ts";
import {
  type InvalidationMessage,
  openAcknowledgements,
  openPendingInvalidations,
  parseMessage,
} from "./invalidations.ts";
import type { RedisTierSettings } from "./redisTier.ts";
import { openReplicationLease } from "./replicationLease.ts";
import { acknowledgementsOf, CHANNEL, EPOCH, EVERYTHING, namesOf, scripts } from "./scripts.ts";

/**
 * Sends invalidations between the gateways on one Redis. It connects in the background.
 * @param timeout milliseconds that `invalidate` waits at most.
 */
export const openReplication = (
  { url, timeout, onEvent, build }: Pick<RedisTierSettings, "url" | "timeout" | "onEvent"> & { build: string },
  owner: Parameters<OpenSharedTier>[0],
) => {
  const self = randomUUID();
  const pending = openPendingInvalidations();
  const acknowledgements = openAcknowledgements();
  const connection = connectRedis({
    url,
    channels: [CHANNEL, acknowledgementsOf(self)],
    onListening: () => lease.beat(),
    onDeaf: () => lease.lose("the subscription broke"),
    onError: (error) => lease.failed(error),
    onMessage(text, channel) {
      if (channel !== CHANNEL) return acknowledgements.received(text);
      const message = parseMessage(text);
      if (message === undefined) return lease.lose("a message could not be read");
      const { from, epoch, drop } = message;
      lease.announced(epoch);
      if (from === self) return acknowledgements.received(epoch);
      owner.onInvalidation(drop);
      return connection.publish(acknowledgementsOf(from), epoch);
    },
  });

  /** Deletes these names in Redis; resolves with how many gateways receive the message. */
  const announce = async (drop: Invalidation, epoch: string, names = namesOf(build, drop)): Promise<number> => {
    const message = JSON.stringify({ from: self, epoch, drop } satisfies InvalidationMessage);
    return Number(await connection.run(scripts.invalidate, [EPOCH, ...names], [CHANNEL, message, epoch]));
  };

  const lease = openReplicationLease({
    isListening: () => connection.isListening(),
    renew: () => connection.renew(),
    onEvent,
    async ask() {
      const epoch = asTexts(await connection.run(scripts.epoch, [EPOCH], [randomUUID()]));
      return typeof epoch === "string" ? epoch : undefined;
    },
    async flush() {
      for (let drop = pending.first(); drop; drop = pending.first()) {
        await announce(drop, randomUUID());
        pending.done(drop);
      }
    },
    /** Discards all entries here and in Redis: invalidations may have been missed, or not been sent. */
    async recover(isFirst) {
      owner.onLost();
      if (!isFirst) await announce({}, randomUUID(), [EVERYTHING]);
    },
  });

  const attempt = async (drop: Invalidation, epoch: string) => {
    if (pending.first() !== undefined) return "late";
    const until = performance.now() + timeout;
    const receivers = await withTimeout(announce(drop, epoch), timeout);
    if (receivers === "late") return "late";
    // Redis has invalidated it. Now every gateway has to acknowledge it.
    const done = await withTimeout(acknowledgements.from(epoch, receivers), Math.max(1, until - performance.now()));
    return done === "late" ? "unacknowledged" : "done";
  };
  return {
    run: connection.run,
    /** Whether all invalidations up to a moment ago have arrived here. */
    isTrusted: () => lease.isHeld(),
    /** Invalidations of this gateway wait until Redis answers again. */
    isPending: () => pending.first() !== undefined,
    /** Changes with every invalidation. */
    epoch: lease.epoch,
    /** Resolves when all gateways have acknowledged it, or with the reason why that is not known; it is then repeated. */
    async invalidate(drop: Invalidation): Promise<"done" | "unacknowledged" | "late" | "failed"> {
      const epoch = randomUUID();
      acknowledgements.expect(epoch);
      const result = await attempt(drop, epoch).catch(() => "failed" as const);
      acknowledgements.forget(epoch);
      // Repeated until it has arrived; twice does no harm.
      if (result === "late" || result === "failed") pending.add(drop);
      return result;
    },
    close(): void {
      lease.close();
      connection.close();
    },
  };
};
