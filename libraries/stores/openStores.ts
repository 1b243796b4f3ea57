import type { Disk } from "./disk.ts";
import {
  openHealth,
  type OnStoreEvent,
  storeIn,
  type StoreSettings,
  type Stores,
  type StoresSettings,
  type WriteText,
} from "./keyValueStore.ts";

/**
 * Opens the stores in Redis, else in a directory, else in memory.
 *
 * @throws With the setting's name, if the directory cannot be used.
 */
export const openStores = async ({
  REDIS_URL,
  DATA_DIR,
  isCheck,
  onEvent,
  ...times
}: StoresSettings): Promise<Stores> => {
  if (isCheck) return memoryStores();
  // Loaded only when they are used: Redis's client and SQLite take time and memory.
  if (REDIS_URL !== undefined)
    return (await import("./redisStores.ts")).redisStores({ url: REDIS_URL, onEvent, ...times });
  if (DATA_DIR === undefined) return memoryStores();
  const report = openHealth(onEvent);
  const { openDisk } = await import("./disk.ts");
  const onHanging = () => onEvent("store_hangs", { directory: DATA_DIR });
  return localStores(onEvent, report, await openDisk({ directory: DATA_DIR, onEnded: report, onHanging, ...times }));
};

/** Opens stores in memory: their values are gone with the process. */
export const memoryStores = (): Stores =>
  localStores(
    () => undefined,
    () => undefined,
  );

/** The stores of a single process, on its disk or in memory. */
const localStores = (onEvent: OnStoreEvent, report: ReturnType<typeof openHealth>, disk?: Disk): Stores => {
  let closing: Promise<void> | undefined;
  return {
    kind: disk === undefined ? "memory" : "directory",
    async open<T>(settings: StoreSettings<T>) {
      const { feature } = settings;
      const stored = () => disk?.textsOf(feature) ?? new Map<string, string>();
      const onLate = () => void store.inTurn(() => store.rollBack(stored())).then(() => report(), report);
      const write: WriteText = async (key, text) => {
        if (closing !== undefined) throw new Error("the store is closed");
        try {
          await disk?.write(feature, key, text, onLate);
        } catch (error) {
          report(error as Error);
          throw error;
        }
        report();
        return true;
      };
      const store = storeIn<T>(write, settings, onEvent);
      try {
        store.take(stored(), true);
      } catch (error) {
        throw disk?.refuse(`${feature}/${(error as Error).message}`);
      }
      return store;
    },
    claim: () => async () => true,
    close: () => (closing ??= disk?.close().catch(report) ?? Promise.resolve()),
  };
};
