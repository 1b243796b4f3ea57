import type { Changes, KeyedStore, KeyedStoreSettings } from "./keyedStore.ts";

/** What a store of one process is opened with. */
export type LocalStoreSettings<T> = Pick<KeyedStoreSettings<T>, "schema" | "onEvent"> & {
  kind: "memory" | "directory";
  values: ReadonlyMap<string, T>;
  /** Stores the values at once and durably; throws if it cannot. */
  write?: (changes: Changes<T>) => void;
  /** Named in events. */
  file?: string;
  /** Milliseconds from a `save` until it is written, and until a failed one is repeated. */
  delay?: number;
  release?: () => void;
};

/** A store that no other process uses. */
export const localStore = <T>(settings: LocalStoreSettings<T>): KeyedStore<T> => {
  const { kind, schema, onEvent, write, file, delay = 2000, release } = settings;
  const values = new Map(settings.values);
  let snapshot: ReadonlyMap<string, T> | undefined;
  let unsaved = new Map<string, T | undefined>();
  let isLost = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const become = (changes: Changes<T>) => {
    snapshot = undefined;
    for (const [key, value] of changes) {
      if (value === undefined) values.delete(key);
      else values.set(key, value);
    }
  };
  const flush = () => {
    timer = undefined;
    if (unsaved.size === 0) return;
    try {
      write?.(unsaved);
      unsaved = new Map();
      if (isLost) onEvent("up", { ...(file && { file }) });
      isLost = false;
    } catch (error) {
      if (!isLost) onEvent("lost", { ...(file && { file }), why: (error as Error).message });
      isLost = true;
      flushLater();
    }
  };
  const flushLater = () => {
    if (isClosed || timer !== undefined) return;
    timer = setTimeout(flush, delay);
    timer.unref();
  };

  return {
    kind,
    entries: () => (snapshot ??= new Map(values)),
    isUnreadable: () => false,
    async update(key, make) {
      if (isClosed) throw new Error("the store is closed");
      const made = make(values.get(key));
      if (made === undefined) return false;
      const changes = new Map([[key, schema(key).parse(made)]]);
      try {
        write?.(changes);
      } catch (error) {
        onEvent("error", { why: (error as Error).message });
        throw error;
      }
      unsaved.delete(key);
      become(changes);
      return true;
    },
    save(changes) {
      if (isClosed) return;
      become(changes);
      if (write === undefined) return;
      for (const [key, value] of changes) unsaved.set(key, value);
      flushLater();
    },
    holdsLease: () => true,
    async close() {
      if (isClosed) return;
      isClosed = true;
      clearTimeout(timer);
      flush();
      release?.();
    },
  };
};

/** A store in memory: its values are gone with the process. */
export const memoryStore = <T>({ schema, onEvent }: Pick<KeyedStoreSettings<T>, "schema" | "onEvent">): KeyedStore<T> =>
  localStore({ kind: "memory", values: new Map(), schema, onEvent });
