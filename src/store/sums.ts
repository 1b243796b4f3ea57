import type { KeyedStore, KeyedStoreSettings } from "./keyedStore.ts";

/** Values that grow by what is added to them. Gateways that share the store add to the same values. */
export type Sums<T> = {
  /** Adds to the value under a key: at once here, in the store with the next flush. */
  add(key: string, value: T): void;
  /** The value under a key, and what the next flush adds to it. */
  get(key: string): T | undefined;
  /** The keys of all values. */
  keys(): Set<string>;
  /** Stores what was added; what could not be stored is stored with the next flush. While one runs it waits for that one. Never rejects. */
  flush(): Promise<void>;
  /** Waits for a flush that runs, flushes what was added since, then closes the store. */
  close(): Promise<void>;
};

type SumsSettings<T> = {
  /** Both values as one; `known` came first. The number of entries in it is bounded here. */
  sum: (known: T, added: T) => T;
  /** Called before each flush: adds what is pending. */
  collect: () => void;
  /** Called if something could not be stored. */
  onError: (error: Error) => void;
  /** Milliseconds between two flushes. */
  interval: number;
};

/** What a store of sums is opened with. */
export type SumsStoreSettings<T> = Pick<
  KeyedStoreSettings<T>,
  "name" | "schema" | "isRebuildable" | "onChange" | "onEvent"
>;

/** The settings of a store of sums. `onError`: called if it is lost, or has what cannot be read. */
export const sumsStoreSettings = <T>(
  name: string,
  schema: KeyedStoreSettings<T>["schema"],
  onError: (error: Error) => void,
): SumsStoreSettings<T> => ({
  name,
  schema,
  isRebuildable: true,
  onChange: () => undefined,
  onEvent(event, { why = event }) {
    if (event === "lost" || event === "unreadable") onError(new Error(why));
  },
});

/** Opens sums over a store. */
export const openSums = <T>(store: KeyedStore<T>, { sum, collect, onError, interval }: SumsSettings<T>): Sums<T> => {
  let unsaved = new Map<string, T>();
  let saving: ReadonlyMap<string, T> = new Map();
  let running: Promise<void> | undefined;

  const add = (key: string, value: T): void => {
    const known = unsaved.get(key);
    unsaved.set(key, known === undefined ? value : sum(known, value));
  };

  const save = async (): Promise<void> => {
    collect();
    saving = unsaved;
    unsaved = new Map();
    for (const [key, value] of saving) {
      await store
        .update(key, (latest) => (latest === undefined ? value : sum(latest, value)))
        .catch((error: Error) => {
          onError(error);
          const later = unsaved.get(key);
          unsaved.set(key, later === undefined ? value : sum(value, later));
        });
      // A store on a disk blocks while it writes: requests come in between.
      await new Promise((resolve) => setImmediate(resolve));
    }
    saving = new Map();
  };
  const flush = (): Promise<void> => (running ??= save().finally(() => (running = undefined)));

  const flushing = setInterval(() => void flush(), interval);
  flushing.unref();
  return {
    add,
    get(key) {
      const parts = [store.entries().get(key), saving.get(key), unsaved.get(key)];
      return parts
        .filter((one) => one !== undefined)
        .reduce<T | undefined>((known, one) => (known === undefined ? one : sum(known, one)), undefined);
    },
    keys: () => new Set([...store.entries().keys(), ...saving.keys(), ...unsaved.keys()]),
    flush,
    async close() {
      clearInterval(flushing);
      await running;
      await flush();
      await store.close();
    },
  };
};
