import type { KeyedStore, KeyedStoreSettings } from "./keyedStore.ts";
import type { RedisStoreSettings } from "./redis/redisStore.ts";
import type { SqliteStoreSettings } from "./sqliteStore.ts";

/** Where values are kept, and what an earlier version has left there. */
export type StorePlace<T> = {
  REDIS_URL?: string | undefined;
  DATA_DIR?: string | undefined;
} & Pick<SqliteStoreSettings<T>, "takeOverFile"> &
  Pick<RedisStoreSettings<T>, "earlier">;

/** Opens values in Redis, else in a directory, else in memory. Rejects, with the setting's name, if the place cannot be used. */
export const openKeyedStore = async <T>(
  place: StorePlace<T>,
  settings: KeyedStoreSettings<T>,
): Promise<KeyedStore<T>> => {
  const { REDIS_URL: url, DATA_DIR: directory, ...about } = place;
  // Loaded where they are used: Redis's client and SQLite take their time and memory.
  if (url !== undefined) return (await import("./redis/redisStore.ts")).redisStore({ ...settings, ...about, url });
  if (directory !== undefined)
    return (await import("./sqliteStore.ts")).sqliteStore({ ...settings, ...about, directory });
  return (await import("./localStore.ts")).memoryStore(settings);
};
