import type { Core } from "../../src/gateway/index.ts";

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
  return {
    bound: { bytes: settings.CACHE_BYTES, entryBytes },
    bytes,
    entries,
    evicted,
    ...(shared && { shared }),
    ...(doubtful && { forFailureOnly: doubtful }),
    /** The lifetimes of each endpoint, by the names of `CACHE_LIFETIMES`. */
    lifetimes: Object.fromEntries(
      Object.entries(declared).map(([name, given]) => {
        const { mayTurnPrivate: _, ...lifetimes } = given;
        return [name, lifetimes];
      }),
    ),
  };
};
