import type { KeyedStore, KeyedStoreSettings } from "./keyedStore.ts";

/** Where values are kept. */
type StorePlace = { REDIS_URL?: string | undefined; DATA_DIR?: string | undefined };

/** Opens values in Redis, else in a directory, else in memory. Rejects, with the setting's name, if the place cannot be used. */
export const openKeyedStore = async <T>(
  { REDIS_URL: url, DATA_DIR: directory }: StorePlace,
  settings: KeyedStoreSettings<T>,
): Promise<KeyedStore<T>> => {
  // Loaded where they are used: Redis's client and SQLite take their time and memory.
  if (url !== undefined) return (await import("./redis/redisStore.ts")).redisStore({ ...settings, url });
  if (directory !== undefined) return (await import("./sqliteStore.ts")).sqliteStore({ ...settings, directory });
  return (await import("./localStore.ts")).memoryStore(settings);
};
