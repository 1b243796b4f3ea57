import { randomUUID } from "node:crypto";
import { buildId } from "../../cache/buildId.ts";
import { type Entry, isExpired } from "../../cache/entry.ts";
import type { Invalidation, OpenSharedTier, SharedTier } from "../../cache/sharedTier.ts";
import { totalLifetime } from "../../cache/lifetimes.ts";
import { openAcks } from "./acks.ts";
import { withTimeout } from "../../concurrency/withTimeout.ts";
import { connectRedis } from "./connection.ts";
import { openInStep, type StepEvent } from "./inStep.ts";
import { type Message, messageFrom } from "./message.ts";
import { acksOf, CHANNEL, entryName, EPOCH, EVERYTHING, groupsFor, isListable, namesOf, VERSIONS } from "./names.ts";
import { openPendingDrops } from "./pendingDrops.ts";
import { scripts } from "./scripts.ts";
import { fromWire, toWire } from "./wire.ts";

export type RedisTierSettings = {
  url: string;
  /** Milliseconds that a request waits at most. */
  timeout: number;
  /** Milliseconds that anything may be kept. */
  longest: number;
  /** Entries of other builds are not read; by default this build's id. */
  build?: string;
  onEvent: (event: StepEvent, about: Record<string, unknown>) => void;
  count: (call: "get" | "set" | "drop", result: string) => void;
};

/** Milliseconds without reading after an answer that came late. */
const REST = 1000;
/** Clocks of two machines differ by less. */
const SKEW = 60_000;

/**
 * What gateways share by a Redis or Valkey. Correct before fast: a gateway that has lost it trusts nothing that it keeps, and begins
 * anew when it is back, because others may have written meanwhile.
 */
export const redisTier =
  ({ url, timeout, longest, onEvent, count, build = buildId() }: RedisTierSettings): OpenSharedTier =>
  (told): SharedTier => {
    const self = randomUUID();
    const pending = openPendingDrops();
    const acks = openAcks();
    let restUntil = 0;

    const connection = connectRedis({
      url,
      channels: [CHANNEL, acksOf(self)],
      onListening: () => step.beat(),
      onDeaf: () => step.lose("the subscription broke"),
      onError: (error) => step.failed(error),
      onMessage(text, channel) {
        if (channel !== CHANNEL) return acks.heard(text);
        const message = messageFrom(text);
        if (message === undefined) return step.lose("a message could not be read");
        const { from, epoch, drop } = message;
        step.heard(epoch);
        if (from === self) return acks.heard(epoch);
        told.onInvalidation(drop);
        return connection.publish(acksOf(from), epoch);
      },
    });

    /** `names`: what is deleted in Redis. */
    const announce = async (drop: Invalidation, names: readonly string[], epoch: string): Promise<number> => {
      const message: Message = { from: self, epoch, drop };
      return Number(await connection.run(scripts.drop, [EPOCH, ...names], [CHANNEL, JSON.stringify(message), epoch]));
    };
    const send = (drop: Invalidation, epoch: string = randomUUID()) => announce(drop, namesOf(build, drop), epoch);

    const step = openInStep({
      isListening: () => connection.isListening(),
      renew: () => connection.renew(),
      onEvent,
      async ask() {
        const epoch = await connection.run(scripts.beat, [EPOCH], [randomUUID()]);
        return epoch instanceof Buffer ? epoch.toString() : undefined;
      },
      async flush() {
        for (let drop = pending.first(); drop; drop = pending.first()) {
          await send(drop);
          pending.done(drop);
        }
      },
      /** Others may have dropped unheard, or written and not been able to tell: nothing from before counts, here or in Redis. */
      async recover(isFirst) {
        // At the first time as well: what was read before it listened is in memory.
        told.onLost();
        if (!isFirst) await announce({}, [EVERYTHING], randomUUID());
      },
    });

    const read = async (key: string): Promise<Entry | undefined> => {
      const bytes = await connection.run(scripts.get, [entryName(build, key)], [VERSIONS]);
      if (!(bytes instanceof Buffer)) return undefined;
      const entry = await fromWire(bytes);
      return isExpired(entry, Date.now()) || entry.storedAt > Date.now() + SKEW ? undefined : entry;
    };

    return {
      trusted: () => step.trusted(),
      mark: () => step.epoch(),
      async get(key) {
        // A drop that has not arrived yet would not be seen.
        if (!step.trusted() || pending.first() !== undefined || performance.now() < restUntil) return undefined;
        try {
          const entry = await withTimeout(read(key), timeout);
          count("get", entry === "late" ? "late" : entry ? "hit" : "miss");
          if (entry !== "late") return entry;
          restUntil = performance.now() + REST;
        } catch {
          // Counted, and legacy answers instead.
          count("get", "failed");
        }
        return undefined;
      },
      set(key, entry, mark) {
        if (!step.trusted() || mark === undefined || entry.owner !== undefined || !entry.groups.every(isListable))
          return;
        const groups = groupsFor(entry).join("\n");
        const left = entry.storedAt + totalLifetime(entry.lifetimes) - Date.now();
        if (left <= 0) return;
        connection
          .run(
            scripts.set,
            [entryName(build, key), EPOCH],
            [VERSIONS, mark, randomUUID(), String(longest), String(Math.ceil(left)), toWire(entry), groups],
          )
          .then(
            (kept) => count("set", Number(kept) === 1 ? "stored" : "overtaken"),
            () => count("set", "failed"),
          );
      },
      async invalidate(drop) {
        const epoch = randomUUID();
        const until = performance.now() + timeout;
        try {
          acks.expect(epoch);
          const receivers = pending.first() ? "late" : await withTimeout(send(drop, epoch), timeout);
          if (receivers !== "late") {
            // It is dropped in Redis; now every gateway has to say that it is dropped there.
            const done = await withTimeout(acks.from(epoch, receivers), Math.max(1, until - performance.now()));
            return count("drop", done === "late" ? "unacknowledged" : "done");
          }
          count("drop", "late");
        } catch {
          count("drop", "failed");
        } finally {
          acks.forget(epoch);
        }
        // Until it is known to have arrived; twice does no harm.
        pending.add(drop);
      },
      close() {
        step.close();
        return connection.close();
      },
    };
  };
