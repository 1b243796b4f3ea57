import type { Settings } from "../../../settings/settings.ts";
import { memoryStore } from "./memoryStore.ts";
import type { OnStoreEvent, StateStore } from "./stateStore.ts";

/** Where what is set at run time is kept: in Redis, else in a directory, else nowhere. Rejects where that cannot be used, with the setting's name. */
export const openStore = async (
  settings: Pick<Settings, "REDIS_URL" | "DATA_DIR"> & { MODERN_URL?: string | undefined },
  endpoints: readonly string[],
  onEvent: OnStoreEvent,
): Promise<StateStore> => {
  const { REDIS_URL: url, DATA_DIR: directory, MODERN_URL: modern } = settings;
  // Where nothing can be migrated nothing is kept, and Redis is a cache that may be away.
  if (modern === undefined) return memoryStore();
  // Loaded where they are used: Redis's client and SQLite take their time and memory.
  if (url !== undefined)
    return (await import("./redisStore.ts")).redisStore({ url, timeout: 2000, onEvent, endpoints });
  if (directory !== undefined) return (await import("./fileStore.ts")).fileStore(directory, { onEvent, endpoints });
  return memoryStore();
};
