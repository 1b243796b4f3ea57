import type { Settings } from "../../config/settings.ts";
import { fileStore } from "./fileStore.ts";
import type { OpenIndexStore } from "./indexStore.ts";
import { memoryStore } from "./memoryStore.ts";
import { redisStore } from "./redisStore.ts";

/** Where private rows are kept: in Redis, where instances share them, else in a directory, else nowhere. */
export const openIndexStore = ({
  REDIS_URL: url,
  DATA_DIR: directory,
}: Pick<Settings, "REDIS_URL" | "DATA_DIR">): OpenIndexStore => {
  if (url !== undefined) return redisStore({ url });
  if (directory !== undefined) return fileStore(directory);
  return memoryStore;
};
