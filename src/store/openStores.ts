import type { Settings } from "../settings/settings.ts";
import { localStores, memoryStores } from "./localStores.ts";
import type { OnStoreEvent, Stores } from "./store.ts";

/** What stores are opened with. */
export type StoresSettings = Pick<Settings, "REDIS_URL" | "DATA_DIR"> & {
  /** A check stores nothing, and may run beside the gateway. */
  isCheck?: boolean;
  onEvent: OnStoreEvent;
  /** Milliseconds that an update waits for Redis, and the start; a test may change them. */
  timeout?: number;
  patience?: number;
};

/** Opens the stores in Redis, else in a directory, else in memory. Rejects, with the setting's name, if the directory cannot be used. */
export const openStores = async ({
  REDIS_URL,
  DATA_DIR,
  isCheck,
  onEvent,
  ...times
}: StoresSettings): Promise<Stores> => {
  if (isCheck) return memoryStores();
  // Loaded where they are used: Redis's client and SQLite take their time and memory.
  if (REDIS_URL !== undefined)
    return (await import("./redisStores.ts")).redisStores({ url: REDIS_URL, onEvent, ...times });
  if (DATA_DIR !== undefined) return localStores(onEvent, (await import("./sqliteDisk.ts")).sqliteDisk(DATA_DIR));
  return memoryStores();
};
