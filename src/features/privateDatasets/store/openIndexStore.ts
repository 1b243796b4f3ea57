import type { Settings } from "../../../settings/settings.ts";
import { openKeyedStore } from "../../../store/openKeyedStore.ts";
import { indexStoreOver, memoryIndexStore, type OpenIndexStore } from "./indexStore.ts";
import { type LegacySettings, scopeOf } from "./scope.ts";

/**
 * Where private rows are kept: in Redis, where gateways share them, else in a directory, else in memory.
 * @param settings as they were given: the address at which the sample legacy is started is not part of them.
 */
export const openIndexStore = ({
  REDIS_URL,
  DATA_DIR,
  ...legacy
}: Pick<Settings, "REDIS_URL" | "DATA_DIR"> & LegacySettings): OpenIndexStore => {
  if (REDIS_URL === undefined && DATA_DIR === undefined) return memoryIndexStore;
  const scope = scopeOf(legacy);
  return indexStoreOver(scope, (about) => openKeyedStore({ REDIS_URL, DATA_DIR }, about));
};
