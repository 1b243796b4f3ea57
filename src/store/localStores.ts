import { openHealth, type OnStoreEvent, storeIn, type Stores, type StoreSettings } from "./store.ts";

/** Where the values of stores are written that no other process uses. */
export type Disk = {
  /** What was stored, by feature and key. */
  found: ReadonlyMap<string, Map<string, string>>;
  /** Stores a text at once and durably, or deletes it; throws if it cannot. */
  write(feature: string, key: string, text: string | undefined): void;
  close(): void;
  /** The error of a start that is refused because of a value. */
  refuse(why: string): Error;
};

/** Opens stores in memory: their values are gone with the process. */
export const memoryStores = (): Stores => localStores(() => undefined);

/** Opens the stores of one process, on its disk or in memory. */
export const localStores = (onEvent: OnStoreEvent, disk?: Disk): Stores => {
  const report = openHealth(onEvent);
  let isClosed = false;
  return {
    place: disk === undefined ? "memory" : "directory",
    async open<T>(settings: StoreSettings<T>) {
      const { feature } = settings;
      const write = async (key: string, _: string | undefined, text: string | undefined): Promise<undefined> => {
        if (isClosed) throw new Error("the store is closed");
        try {
          disk?.write(feature, key, text);
        } catch (error) {
          report(error as Error);
          throw error;
        }
        report();
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
