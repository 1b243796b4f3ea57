import type { Settings } from "../../../settings/settings.ts";
import { openKeyedStore } from "../../../store/openKeyedStore.ts";
import { memoryStateStore, type OnStoreEvent, openStateStore, type StateStore } from "./stateStore.ts";

/** Opens the state in Redis, else in a directory, else in memory. Rejects, with the setting's name, if the place cannot be used. */
export const openMigrationStore = async (
  settings: Pick<Settings, "REDIS_URL" | "DATA_DIR"> & { MODERN_URL?: string | undefined },
  endpoints: readonly string[],
  onEvent: OnStoreEvent,
): Promise<StateStore> => {
  // Without a modern side Redis is only a cache, and the gateway starts without it.
  if (settings.MODERN_URL === undefined) return memoryStateStore();
  const { REDIS_URL, DATA_DIR } = settings;
  return openStateStore({ onEvent, endpoints }, (about) => openKeyedStore({ REDIS_URL, DATA_DIR }, about));
};
