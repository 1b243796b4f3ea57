import { randomUUID } from "node:crypto";
import { buildId, withTimeout } from "../../src/operation/index.ts";
import { type Entry, expiryOf, type OpenSecondTier, type SecondTier } from "../../src/gateway/index.ts";
import { Replication, type ReplicationSettings } from "./replication.ts";
import { entryName, EPOCH, isListable, scripts, VERSIONS } from "./scripts.ts";
import { fromWire, namesFor, toWire } from "../../libraries/stores/storedEntry.ts";

type RedisTierSettings = Omit<ReplicationSettings, "build"> & {
  /** Entries of other builds are not read; default: this build's id. */
  build?: string;
  /** Milliseconds after which any entry expires. */
  longest: number;
  count: (call: "get" | "set" | "drop", result: string) => void;
};

/** Milliseconds without reads after a late answer. */
const COOLDOWN_MS = 1000;

/**
 * The cache that gateways share by a Redis or Valkey. Correctness goes before speed: a gateway that has lost Redis
 * does not trust its cache until it knows which invalidations it has missed, because others may have written.
 */
export const redisTier =
  ({ longest, count, build = buildId(), ...settings }: RedisTierSettings) =>
  (owner: Parameters<OpenSecondTier>[0]): SecondTier & Required<Pick<SecondTier, "trusted" | "mark">> => {
    const { timeout } = settings;
    const replication = new Replication({ ...settings, build }, owner);
    const { connection, deliveries, lease } = replication;
    let cooldownUntil = 0;

    const read = async (key: string): Promise<Entry | undefined> => {
      const bytes = await connection.run(scripts.get, [entryName(build, key)], [VERSIONS]);
      if (!(bytes instanceof Buffer)) return undefined;
      const entry = await fromWire(bytes);
      return entry === undefined || performance.now() >= expiryOf(entry) ? undefined : entry;
    };

    return {
      trusted: () => lease.isHeld(),
      // Less memory and time in Redis.
      coding: "br",
      mark: () => lease.epoch(),
      async get(key) {
        // While an invalidation is pending, Redis may still hold the entries that it deletes.
        if (!lease.isHeld() || deliveries.arePending() || performance.now() < cooldownUntil) return undefined;
        try {
          const entry = await withTimeout(read(key), timeout);
          count("get", entry === "late" ? "late" : entry ? "hit" : "miss");
          if (entry !== "late") return entry;
          cooldownUntil = performance.now() + COOLDOWN_MS;
        } catch {
          // Legacy answers instead.
          count("get", "failed");
        }
        return undefined;
      },
      set(key, entry, mark) {
        if (!lease.isHeld() || mark === undefined || entry.owner !== undefined || !entry.groups.every(isListable))
          return;
        const groups = namesFor(entry).join("\n");
        const left = expiryOf(entry) - performance.now();
        if (left <= 0) return;
        const about = [VERSIONS, mark, randomUUID(), String(longest), String(Math.ceil(left)), toWire(entry), groups];
        connection.run(scripts.set, [entryName(build, key), EPOCH], about).then(
          (reply) => count("set", Number(reply) === 1 ? "stored" : "overtaken"),
          () => count("set", "failed"),
        );
      },
      async invalidate(invalidation) {
        const result = await deliveries.invalidate(invalidation);
        count("drop", result);
        return result === "done";
      },
      close: async () => replication.close(),
    };
  };
