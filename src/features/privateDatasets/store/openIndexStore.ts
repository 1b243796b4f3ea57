import type { Settings } from "../../../settings/settings.ts";
import type { OpenIndexStore } from "./indexStore.ts";
import { memoryStore } from "./memoryStore.ts";
import { type LegacySettings, scopeOf } from "./scope.ts";

/**
 * Where private rows are kept: in Redis, where instances share them, else in a directory, else nowhere. The settings as they were given:
 * where the sample legacy runs is none of them.
 */
export const openIndexStore = ({
  REDIS_URL: url,
  DATA_DIR: directory,
  ...legacy
}: Pick<Settings, "REDIS_URL" | "DATA_DIR"> & LegacySettings): OpenIndexStore => {
  const scope = scopeOf(legacy);
  // Loaded where they are used: Redis's client and SQLite take their time and memory.
  if (url !== undefined) return async (parts) => (await import("./redisStore.ts")).redisStore({ url, scope })(parts);
  if (directory !== undefined)
    return async (parts) => (await import("./fileStore.ts")).fileStore({ directory, scope })(parts);
  return memoryStore;
};
