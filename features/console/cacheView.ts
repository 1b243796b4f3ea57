import { type Core, maxEntryBytes } from "../../src/gateway/index.ts";
import type { DeclaredLifetimes } from "../../src/catalogue/index.ts";

/** The lifetimes of an endpoint, by the names of `CACHE_LIFETIMES`. */
const lifetimesView = (declared: DeclaredLifetimes) => {
  const { mayTurnPrivate: _, ...lifetimes } = declared;
  return lifetimes;
};

/** What `GET /cache` answers, besides the members that parts add. */
export type CacheView = ReturnType<typeof cacheViewOf>;

export const cacheViewOf = ({
  cache,
  settings,
  lifetimes: declared,
}: Pick<Core, "cache" | "settings" | "lifetimes">) => {
  const { bytes, entries, evicted } = cache.size();
  const shared = cache.sharing();
  const doubtful = cache.doubtful();
  const bound = { bytes: settings.CACHE_BYTES, entryBytes: maxEntryBytes(settings.CACHE_BYTES) };
  const lifetimes = Object.fromEntries(Object.entries(declared).map(([name, one]) => [name, lifetimesView(one)]));
  return {
    bound,
    bytes,
    entries,
    evicted,
    ...(shared && { shared }),
    ...(doubtful && { forFailureOnly: doubtful }),
    lifetimes,
  };
};
