import { onTestFinished } from "vitest";
import { type Entry, entryOf } from "../../../src/cache/entry.ts";
import { compress } from "../../../src/cache/codings.ts";
import { tagged } from "../../../src/cache/representation.ts";
import type { Invalidation } from "../../../src/cache/sharedTier.ts";
import { redisTier } from "../../../src/features/sharedCache/redisTier.ts";
import { until } from "../../support/waiting.ts";

const windows = { fresh: 60_000, staleWhileRevalidate: 60_000, staleIfError: 120_000 };

export const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const entry = async (body: string, about: Partial<Entry> = {}): Promise<Entry> => {
  const plain = tagged({ status: about.status ?? 200, body });
  const br = await compress(plain.body, "br");
  return entryOf(
    { ...plain, coded: br === undefined ? {} : { br } },
    {
      endpoint: "getDataset",
      groups: ["dataset/61", "dataset"],
      lifetimes: windows,
      storedAt: Date.now(),
      ...about,
    },
  );
};

/** One gateway's tier, and its events; it may not be trusted yet. */
export const begin = (url: string, timeout = 250, build = "b") => {
  const described = {
    drops: [] as Invalidation[],
    lost: 0,
    counts: [] as string[],
    events: [] as string[],
    whys: [] as string[],
  };
  const tier = redisTier({
    url,
    timeout,
    longest: 240_000,
    build,
    onEvent(event, about) {
      described.events.push(event);
      described.whys.push(JSON.stringify(about));
    },
    count: (call, result) => described.counts.push(`${call} ${result}`),
  })({ onInvalidation: (drop) => described.drops.push(drop), onLost: () => described.lost++ });
  onTestFinished(() => tier.close());
  const put = async (key: string, one: Entry) => {
    const before = described.counts.length;
    // On a loaded machine a heartbeat may be late, and the tier is not trusted for a moment.
    await until(() => tier.mark() !== undefined);
    tier.set(key, one, tier.mark());
    await until(() => described.counts.slice(before).some((count) => count.startsWith("set")));
    return described.counts.slice(before).find((count) => count.startsWith("set"));
  };
  return { ...tier, told: described, put };
};

/** One that is trusted. `lost` counts from then on. */
export const open = async (url: string, timeout = 250, build?: string) => {
  const tier = begin(url, timeout, build);
  await until(() => tier.trusted());
  tier.told.lost = 0;
  return tier;
};
