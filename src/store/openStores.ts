import type { Disk } from "./sqliteDisk.ts";
import {
  openHealth,
  type OnStoreEvent,
  storeIn,
  type StoreSettings,
  type Stores,
  type StoresSettings,
  type WriteText,
} from "./store.ts";

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

/** Opens stores in memory: their values are gone with the process. */
export const memoryStores = (): Stores => localStores(() => undefined);

/** The stores of one process, on its disk or in memory. */
const localStores = (onEvent: OnStoreEvent, disk?: Disk): Stores => {
  const report = openHealth(onEvent);
  let isClosed = false;
  return {
    place: disk === undefined ? "memory" : "directory",
    async open<T>(settings: StoreSettings<T>) {
      const { feature } = settings;
      const write: WriteText = async (key, text) => {
        if (isClosed) throw new Error("the store is closed");
        try {
          disk?.write(feature, key, text);
        } catch (error) {
          report(error as Error);
          throw error;
        }
        report();
        return true;
      };
      const store = storeIn<T>(write, settings, onEvent);
      try {
        store.take(disk?.found.get(feature) ?? new Map(), true);
      } catch (error) {
        throw disk?.refuse(`${feature}/${(error as Error).message}`);
      }
      return store;
    },
    claim: () => async () => true,
    async close() {
      if (!isClosed) disk?.close();
      isClosed = true;
    },
  };
};
