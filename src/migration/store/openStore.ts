import type { Settings } from "../../config/settings.ts";
import { fileStore } from "./fileStore.ts";
import { memoryStore } from "./memoryStore.ts";
import { redisStore } from "./redisStore.ts";
import type { OnStoreEvent, StateStore } from "./stateStore.ts";

/** Where what is set at run time is kept: in Redis, else in a directory, else nowhere. Rejects where that cannot be used, with the setting's name. */
export const openStore = async (
  settings: Settings,
  endpoints: readonly string[],
  onEvent: OnStoreEvent,
): Promise<StateStore> => {
  const { REDIS_URL: url, DATA_DIR: directory, MODERN_URL: modern } = settings;
  // Where nothing can be migrated nothing is kept, and Redis is a cache that may be away.
  if (modern === undefined) return memoryStore();
  if (url !== undefined) return redisStore({ url, timeout: 2000, onEvent, endpoints });
  if (directory !== undefined) return fileStore(directory, { onEvent, endpoints });
  return memoryStore();
};
