import { type Cache, openCache } from "../cache/cache.ts";
import type { OpenSharedTier } from "../cache/sharedTier.ts";
import { openStore } from "../cache/store.ts";
import { type DeclaredLifetimes, longestLifetime, withDefaults } from "../cache/lifetimes.ts";
import type { Settings } from "../settings/settings.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import type { Meter } from "../telemetry/meter.ts";
import type { Observer } from "../telemetry/observer.ts";
import type { RedisTierSettings } from "../features/sharedCache/redisTier.ts";

export type Caching = {
  cache: Cache;
  /** How long answers hold, by endpoint, as it is in force. */
  windows: Record<string, DeclaredLifetimes>;
};

export type CachingParts = {
  meter: Meter;
  observer: Observer;
  redisTier: ((settings: RedisTierSettings) => OpenSharedTier) | undefined;
};

/** Of the cache's bytes, for the paths that are known to ask what is kept. */
export const FOR_PATHS = 1 / 16;

const windowsInForce = (
  endpoints: Record<string, Endpoint>,
  changed: Readonly<Record<string, Partial<DeclaredLifetimes>>>,
): Record<string, DeclaredLifetimes> =>
  Object.fromEntries(
    Object.entries(endpoints).flatMap(([name, { cache }]) =>
      cache === undefined ? [] : [[name, withDefaults({ ...cache, ...changed[name] })]],
    ),
  );

/** The cache as the settings want it, with the endpoints' windows, and counted. */
export const openCaching = (
  settings: Settings,
  endpoints: Record<string, Endpoint>,
  { meter, observer, redisTier }: CachingParts,
): Caching => {
  const store = openStore({
    bytes: Math.floor(settings.CACHE_BYTES * (1 - FOR_PATHS)),
    entryBytes: settings.CACHE_ENTRY_BYTES,
  });
  const windows = windowsInForce(endpoints, settings.CACHE_LIFETIMES);
  const openTier =
    settings.REDIS_URL === undefined
      ? undefined
      : redisTier?.({
          url: settings.REDIS_URL,
          timeout: settings.REDIS_TIMEOUT_MS,
          longest: Math.max(...Object.values(windows).map(longestLifetime)),
          onEvent: (event, about) => observer.event(event, about),
          count: meter.shared,
        });
  const cache = openCache({
    store,
    longest: settings.TOTAL_TIMEOUT_MS,
    openTier,
    count: meter.cache,
    onError: (error) => observer.event("internal_error", { error: (error as Error).stack }),
  });
  meter.gauge("cache_bytes", "Bytes the cache holds in memory.", () => cache.size().bytes);
  meter.gauge("cache_entries", "Entries the cache holds in memory.", () => cache.size().entries);
  meter.total("cache_evictions", "Entries evicted to stay within the bound.", () => cache.size().evicted);
  return { cache, windows };
};
