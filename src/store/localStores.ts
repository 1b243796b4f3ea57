import {
  openHealth,
  type OnStoreEvent,
  storeIn,
  type StoreInPlace,
  type Stores,
  type StoreSettings,
  type Swap,
} from "./store.ts";

/** Where stores that no other process uses are written. */
export type Disk = {
  place: "memory" | "directory";
  /** What was stored, by feature and key. */
  found: ReadonlyMap<string, Map<string, string>>;
  /** Stores a text at once and durably, or deletes it; throws if it cannot. */
  write(feature: string, key: string, text: string | undefined): void;
  close(): void;
  /** The error of a start that is refused because of a value. */
  refuse(why: string): Error;
};

/** Opens stores in memory: their values are gone with the process. */
export const memoryStores = (): Stores =>
  localStores(
    {
      place: "memory",
      found: new Map(),
      write: () => undefined,
      close: () => undefined,
      refuse: (why) => new Error(why),
    },
    () => undefined,
  );

/** Opens the stores of one process. */
export const localStores = (disk: Disk, onEvent: OnStoreEvent): Stores => {
  const opened: Pick<StoreInPlace<never>, "end">[] = [];
  const report = openHealth(onEvent);
  let isClosed = false;
  return {
    place: disk.place,
    async open<T>(settings: StoreSettings<T>) {
      const { feature } = settings;
      const texts = new Map(disk.found.get(feature));
      const write = (key: string, text: string | undefined): void => {
        try {
          disk.write(feature, key, text);
        } catch (error) {
          report(error as Error);
          throw error;
        }
        report();
        if (text === undefined) texts.delete(key);
        else texts.set(key, text);
      };
      const swap: Swap = async (key, known, next) => {
        const found = texts.get(key);
        if (found !== known) return { found };
        write(key, next);
        return undefined;
      };
      const store = storeIn<T>(swap, settings, (keys, why) => onEvent("store_unreadable", { feature, keys, why }));
      try {
        store.take(texts, true);
      } catch (error) {
        throw disk.refuse(`${feature}/${(error as Error).message}`);
      }
      opened.push(store);
      return store;
    },
    claim: () => async () => true,
    async close() {
      if (isClosed) return;
      isClosed = true;
      for (const { end } of opened) end();
      disk.close();
    },
  };
};
