import type { OpenSharedTier } from "../../cache/sharedTier.ts";
import type { Core, Feature, TierParts } from "../../serve/feature.ts";
import { redisTier } from "./redisTier.ts";
import type { SharedCacheSettings } from "./settings.ts";

/** The second tier of the cache, in Redis. */
const sharedTier = (settings: SharedCacheSettings, { observer, meter, longest }: TierParts): OpenSharedTier =>
  redisTier({
    url: settings.REDIS_URL as string,
    timeout: settings.REDIS_TIMEOUT_MS,
    longest,
    onEvent: (event, about) => observer.event(event, about),
    count: meter.shared,
  });

const open = ({ services: { cache } }: Core): Feature => ({
  async check({ row }) {
    // Waits at most two seconds for the connection.
    for (let i = 0; i < 40 && cache.sharing() !== "in step"; i++) await new Promise((done) => setTimeout(done, 50));
    const isReached = cache.sharing() === "in step";
    row(isReached, "REDIS_URL", isReached ? "reached" : "cannot be reached: nothing is shared, and little kept");
  },
});

/** The feature, as the gateway opens it. */
export const sharedCacheFeature = { sharedTier, open };
