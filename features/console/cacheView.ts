import type { Core } from "../../src/gateway/index.ts";

/** The lifetimes of an endpoint, by the names of `CACHE_LIFETIMES`. */
const lifetimesView = (declared: Core["lifetimes"][string]) => {
  const { mayTurnPrivate: _, ...lifetimes } = declared;
  return lifetimes;
};

/** The answer of `GET /cache`, without the members that parts add. */
export type CacheView = ReturnType<typeof cacheViewOf>;

export const cacheViewOf = ({
  cache,
  settings,
  lifetimes: declared,
}: Pick<Core, "cache" | "settings" | "lifetimes">) => {
  const { bytes, entries, evicted, entryBytes } = cache.size();
  const shared = cache.sharing();
  const doubtful = cache.doubtful();
  const bound = { bytes: settings.CACHE_BYTES, entryBytes };
  const lifetimes = Object.fromEntries(Object.entries(declared).map(([name, given]) => [name, lifetimesView(given)]));
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
