import { randomUUID } from "node:crypto";
import { type Entry, isOver } from "../cache/entry.ts";
import type { Drop, OpenSharedTier, SharedTier } from "../cache/sharedTier.ts";
import { lifetime } from "../cache/windows.ts";
import { openAcks } from "./acks.ts";
import { bounded } from "./bounded.ts";
import { connectRedis } from "./connection.ts";
import { openLease } from "./lease.ts";
import { acksOf, CHANNEL, entryName, EPOCH, EVERYTHING, groupsFor, namesOf, VERSIONS } from "./names.ts";
import { scripts } from "./scripts.ts";
import { fromWire, toWire } from "./wire.ts";

export type RedisTierSettings = {
  url: string;
  /** Milliseconds that a request waits at most. */
  timeout: number;
  /** Milliseconds that anything may be kept. */
  longest: number;
  onEvent: (event: "shared_tier_up" | "shared_tier_lost" | "shared_tier_error", about: Record<string, unknown>) => void;
  count: (call: "get" | "set" | "drop", result: string) => void;
};

/** Milliseconds between two beats, and without reading after one came late. */
const BEAT = 300;
const REST = 1000;
const MOST_PENDING = 1000;
/** Clocks of two machines differ by less. */
const SKEW = 60_000;

type Message = { from: string; epoch: string; drop: Drop };

/**
 * What gateways share by a Redis or Valkey. Correct before fast: a gateway that has lost it trusts nothing that it keeps, and begins
 * anew when it is back, because others may have written meanwhile.
 */
export const redisTier =
  ({ url, timeout, longest, onEvent, count }: RedisTierSettings): OpenSharedTier =>
  (told): SharedTier => {
    const self = randomUUID();
    const lease = openLease(() => performance.now());
    const pending: Drop[] = [];
    let state: "new" | "up" | "lost" = "new";
    let restUntil = 0;
    let isBusy = false;
    let closed = false;

    let lastError = "";
    /** Told once, not at every attempt. */
    const failed = ({ message }: Error) => {
      if (message !== lastError) onEvent("shared_tier_error", { why: message });
      lastError = message;
    };
    const lose = (why: string) => {
      lease.lose();
      if (state !== "up" || closed) return;
      state = "lost";
      onEvent("shared_tier_lost", { why });
    };
    const acks = openAcks();
    const connection = connectRedis({
      url,
      channels: [CHANNEL, acksOf(self)],
      onListening: () => void tick(),
      onDeaf: () => lose("the subscription broke"),
      onError: failed,
      onMessage(text, channel) {
        if (channel !== CHANNEL) return acks.heard(text);
        const { from, epoch, drop } = JSON.parse(text) as Message;
        lease.heard(epoch);
        if (from === self) return acks.heard(epoch);
        told.onDrop(drop);
        return connection.publish(acksOf(from), epoch);
      },
    });

    /** `names`: what is deleted in Redis. */
    const announce = async (drop: Drop, names: readonly string[], epoch: string): Promise<number> => {
      const message: Message = { from: self, epoch, drop };
      return Number(await connection.run(scripts.drop, [EPOCH, ...names], [CHANNEL, JSON.stringify(message), epoch]));
    };
    const send = (drop: Drop, epoch: string = randomUUID()) => announce(drop, namesOf(drop), epoch);

    const flush = async (): Promise<void> => {
      for (let drop = pending[0]; drop; drop = pending[0]) {
        await send(drop);
        // Meanwhile all of them may have become one.
        if (pending[0] === drop) pending.shift();
      }
    };

    /** Others may have dropped unheard, or written and not been able to tell: nothing from before counts, here or in Redis. */
    const recover = async (): Promise<void> => {
      if (state === "lost") {
        told.onLost();
        await announce({}, [EVERYTHING], randomUUID());
      }
      await flush();
      state = "up";
      lastError = "";
      onEvent("shared_tier_up", {});
    };

    const beat = async (): Promise<void> => {
      const sentAt = performance.now();
      if (state === "up" && !lease.isHeld()) lose("it did not answer in time");
      if (!connection.isListening()) return;
      const epoch = await connection.run(scripts.beat, [EPOCH], [randomUUID()]);
      if (!lease.beat(sentAt, epoch instanceof Buffer ? epoch.toString() : undefined))
        return lose("a beat came late, or a drop was missed");
      if (state !== "up") await recover();
      else await flush();
    };
    const tick = async () => {
      if (isBusy || closed) {
        if (state === "up" && !lease.isHeld()) lose("it did not answer in time");
        return;
      }
      isBusy = true;
      try {
        await beat();
      } catch (error) {
        failed(error as Error);
      } finally {
        isBusy = false;
      }
    };
    const timer = setInterval(() => void tick(), BEAT);
    timer.unref();

    const trusted = () => state === "up" && lease.isHeld() && connection.isListening();

    const read = async (key: string): Promise<Entry | undefined> => {
      const bytes = await connection.run(scripts.get, [entryName(key)], [VERSIONS]);
      if (!(bytes instanceof Buffer)) return undefined;
      const entry = await fromWire(bytes);
      return isOver(entry, Date.now()) || entry.storedAt > Date.now() + SKEW ? undefined : entry;
    };

    return {
      trusted,
      mark: () => lease.epoch(),
      async get(key) {
        // A drop that has not arrived yet would not be seen.
        if (!trusted() || pending.length > 0 || performance.now() < restUntil) return undefined;
        try {
          const entry = await bounded(read(key), timeout);
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
        if (!trusted() || mark === undefined || entry.owner !== undefined) return;
        const groups = groupsFor(entry).join("\n");
        const left = entry.storedAt + lifetime(entry.windows) - Date.now();
        if (left <= 0) return;
        connection
          .run(
            scripts.set,
            [entryName(key), EPOCH],
            [VERSIONS, mark, randomUUID(), String(longest), String(Math.ceil(left)), toWire(entry), groups],
          )
          .then(
            (kept) => count("set", Number(kept) === 1 ? "stored" : "overtaken"),
            () => count("set", "failed"),
          );
      },
      async drop(drop) {
        const epoch = randomUUID();
        const until = performance.now() + timeout;
        try {
          const receivers = pending.length > 0 ? "late" : await bounded(send(drop, epoch), timeout);
          if (receivers !== "late") {
            // It is dropped in Redis; now every gateway has to say that it is dropped there.
            const done = await bounded(acks.from(epoch, receivers), Math.max(1, until - performance.now()));
            return count("drop", done === "late" ? "unacknowledged" : "done");
          }
          count("drop", "late");
        } catch {
          count("drop", "failed");
        } finally {
          acks.forget(epoch);
        }
        // Until it is known to have arrived; twice does no harm.
        pending.push(drop);
        if (pending.length > MOST_PENDING) pending.splice(0, pending.length, { all: true });
      },
      close() {
        closed = true;
        clearInterval(timer);
        return connection.close();
      },
    };
  };
