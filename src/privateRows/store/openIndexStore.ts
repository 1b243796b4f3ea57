import type { Settings } from "../../config/settings.ts";
import type { OpenIndexStore } from "./indexStore.ts";
import { memoryStore } from "./memoryStore.ts";

/** Where private rows are kept: in Redis, where instances share them, else in a directory, else nowhere. */
export const openIndexStore = ({
  REDIS_URL: url,
  DATA_DIR: directory,
}: Pick<Settings, "REDIS_URL" | "DATA_DIR">): OpenIndexStore => {
  // Loaded where they are used: Redis's client and SQLite take their time and memory.
  if (url !== undefined) return async (parts) => (await import("./redisStore.ts")).redisStore({ url })(parts);
  if (directory !== undefined) return async (parts) => (await import("./fileStore.ts")).fileStore(directory)(parts);
  return memoryStore;
};
