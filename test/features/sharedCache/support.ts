import { onTestFinished } from "vitest";
import { type Entry, entryOf } from "../../../src/gateway/cache/entry.ts";
import { compress } from "../../../src/gateway/cache/compression.ts";
import type { Invalidation } from "../../../src/gateway/cache/secondTier.ts";
import { redisTier } from "../../../features/sharedCache/redisTier.ts";
import type { startRedis } from "../../libraries/stores/redis/redisServer.ts";
import { until } from "../../support/waiting.ts";

const lifetimes = { fresh: 60_000, staleWhileRevalidate: 60_000, staleIfError: 120_000 };

export const entry = async (body: string, about: Partial<Entry> = {}): Promise<Entry> => {
  const plain = entryOf(
    { status: about.status ?? 200, body },
    { endpoint: "getDataset", groups: ["dataset/61", "dataset"], lifetimes, storedAt: performance.now(), ...about },
  );
  const br = await compress(plain.body, "br");
  return { ...plain, coded: br === undefined ? {} : { br }, ...about };
};

/** A gateway's tier, and its reports; it may not be trusted yet. */
export const begin = (url: string, timeout = 2000, build = "b") => {
  const observed = {
    drops: [] as Invalidation[],
    lost: 0,
    counts: [] as string[],
    setAside: [] as unknown[],
  };
  const tier = redisTier({
    url,
    timeout,
    longest: 240_000,
    build,
    onEvent: (event, about) => event === "redis_key_set_aside" && observed.setAside.push(about["key"]),
    count: (call, result) => observed.counts.push(`${call} ${result}`),
  })({ onInvalidation: (drop) => observed.drops.push(drop), onLost: () => observed.lost++ });
  onTestFinished(() => tier.close());
  const put = async (key: string, stored: Entry) => {
    const before = observed.counts.length;
    // On a loaded machine a heartbeat may be late, and the tier is not trusted for a moment.
    await until(() => tier.trusted() && tier.mark() !== undefined);
    tier.set(key, stored, tier.mark());
    await until(() => observed.counts.slice(before).some((count) => count.startsWith("set")));
    return observed.counts.slice(before).find((count) => count.startsWith("set"));
  };
  return { ...tier, observed, put };
};

/** One that is trusted. `lost` counts from then on. */
export const open = async (url: string, timeout = 2000, build?: string) => {
  const tier = begin(url, timeout, build);
  await until(() => tier.trusted());
  tier.observed.lost = 0;
  return tier;
};

/** Waits until Redis has answered this number of heartbeats. */
export const heartbeats = async (redis: Pick<Awaited<ReturnType<typeof startRedis>>, "talk">, count: number) => {
  const answered = async () =>
    Number(/cmdstat_persist:calls=(\d+)/.exec(await redis.talk("INFO commandstats"))?.[1] ?? 0);
  const enough = (await answered()) + count;
  await until(async () => (await answered()) >= enough);
};
