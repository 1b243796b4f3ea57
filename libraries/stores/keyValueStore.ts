import type { z } from "zod";
import { openSerialQueue, type SerialQueue } from "./serialQueue.ts";
import { parseJson } from "../../src/catalogue/index.ts";
import type { RunScript } from "./redis.ts";

/** Values by key; `undefined` for a key that is gone. */
export type Changes<T> = ReadonlyMap<string, T | undefined>;

/**
 * Durable or shared state of a feature: values by key. Every gateway has a copy of them in memory, which it reads
 * without waiting.
 */
export type KeyValueStore<T> = {
  get(key: string): T | undefined;
  /** All values. A new object after every change. */
  entries(): ReadonlyMap<string, T>;
  /**
   * Compare-and-set: stores what `make` returns for the latest stored value, `null` deletes it; returns false if `make`
   * returns `undefined`. `make` may be called again if another update came first.
   *
   * @throws If the write is not confirmed in time. If it succeeds anyway, it is undone when the store answers again,
   * unless another write has come since.
   */
  update(key: string, make: (latest: T | undefined) => T | null | undefined): Promise<boolean>;
  /** Calls the listener with the changes of another gateway, and with the values that Redis has lost. */
  onChange(listener: (changes: Changes<T>) => void): void;
};

/** The settings with which a feature opens its store. */
export type StoreSettings<T> = {
  /** The name of the store, also in Redis. */
  feature: string;
  schema: (key: string) => z.ZodType<T>;
  /** The start is refused if a value cannot be read. */
  isVital?: boolean;
  /** The value in place of an unreadable value. Otherwise that is dropped, or the value read before stays. */
  instead?: (key: string) => T | undefined;
  /** The start waits for Redis, and is refused without it. */
  needsRedis?: boolean;
};

/** The settings with which stores are opened. */
export type StoresSettings = {
  REDIS_URL?: string | undefined;
  DATA_DIR?: string | undefined;
  /** A check stores nothing, and may run beside the gateway. */
  isCheck?: boolean;
  onEvent: OnStoreEvent;
  /**
   * Milliseconds for which an update waits at most, and for which the start waits for Redis or the disk. After `hint`
   * the start reports that it hangs. A test may change them.
   */
  timeout?: number;
  patience?: number;
  hint?: number;
};

/** The stores of all features, in one place. */
export type Stores = {
  kind: "memory" | "directory" | "redis";
  /** @throws With the setting's name, if the start is refused. */
  open<T>(settings: StoreSettings<T>): Promise<KeyValueStore<T>>;
  /** Returns a function that is true if this gateway does this work now. At any time at most one gateway does. */
  claim(work: string): () => Promise<boolean>;
  /** Runs a script of a feature in Redis, if there is one. */
  run?: RunScript;
  /** Stores nothing from now on. */
  close(): Promise<void>;
};

/**
 * Stores a text under a key, or deletes it. False if another gateway has changed the store since the last read: then
 * that change is read, and nothing is written.
 */
export type WriteText = (key: string, text: string | undefined) => Promise<boolean>;

/** A store, with the functions for the place that holds it. */
export type StoreInPlace<T> = KeyValueStore<T> & {
  /**
   * Reads all stored texts into memory.
   *
   * @throws At the start, with the key and the reason, if a vital value cannot be read.
   */
  take(texts: ReadonlyMap<string, string>, isStart?: boolean): void;
  /**
   * Writes the known values again if the stored texts differ from them: a write that had been refused was made after
   * all.
   */
  rollBack(texts: ReadonlyMap<string, string>): Promise<void>;
  /** Runs a task between updates. */
  inTurn: SerialQueue;
};

/** The number of collisions with other updates after which an update fails. */
const MAX_COLLISIONS = 100;

/** Makes the store of a feature, empty until it reads the stored texts. Reports `store_unreadable`. */
export const storeIn = <T>(
  write: WriteText,
  { feature, schema, isVital, instead }: StoreSettings<T>,
  onEvent: OnStoreEvent,
): StoreInPlace<T> => {
  const known = new Map<string, { text: string; value: T | undefined }>();
  const listeners: ((changes: Changes<T>) => void)[] = [];
  const inTurn = openSerialQueue();
  let snapshot: ReadonlyMap<string, T> | undefined;

  const get = (key: string): T | undefined => known.get(key)?.value;
  const put = (key: string, text: string | undefined, value: T | undefined): void => {
    snapshot = undefined;
    if (text === undefined) known.delete(key);
    else known.set(key, { text, value });
  };
  const take: StoreInPlace<T>["take"] = (texts, isStart = false) => {
    const changes = new Map<string, T | undefined>();
    const unreadable: { key: string; why: string }[] = [];
    for (const key of new Set([...known.keys(), ...texts.keys()])) {
      const text = texts.get(key);
      const before = known.get(key);
      if (text === before?.text) continue;
      const read = text === undefined ? undefined : schema(key).safeParse(parseJson(text));
      if (read?.success === false) unreadable.push({ key, why: `${key}: ${describeIssues(read.error)}` });
      put(key, text, read?.success === false ? (instead?.(key) ?? before?.value) : read?.data);
      changes.set(key, get(key));
    }
    const keys = unreadable.map(({ key }) => key);
    const whys = unreadable.slice(0, 5).map(({ why }) => why);
    if (isVital && isStart && whys[0] !== undefined) throw new Error(whys[0]);
    if (keys.length > 0) onEvent("store_unreadable", { feature, keys, why: whys.join("; ") });
    if (changes.size > 0) for (const listener of listeners) listener(changes);
  };
  const rollBack: StoreInPlace<T>["rollBack"] = async (texts) => {
    for (const key of new Set([...known.keys(), ...texts.keys()])) {
      const text = known.get(key)?.text;
      if (texts.get(key) !== text && !(await write(key, text))) return;
    }
  };
  const update: KeyValueStore<T>["update"] = async (key, make) => {
    for (let collisions = 0; collisions < MAX_COLLISIONS; collisions++) {
      const made = make(get(key));
      if (made === undefined) return false;
      const value = made === null ? undefined : schema(key).parse(made);
      const text = value === undefined ? undefined : JSON.stringify(value);
      if (!(await write(key, text))) continue;
      put(key, text, value);
      return true;
    }
    throw new Error("others change it all the time");
  };

  return {
    get,
    entries: () =>
      (snapshot ??= new Map(
        [...known].flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value] as const])),
      )),
    // One after the other: texts that were read before an update must not replace it.
    update: (...about) => inTurn(() => update(...about)),
    onChange: (listener) => void listeners.push(listener),
    take,
    rollBack,
    inTurn,
  };
};

/** The first few places where a value departs from its schema: `/rows/0/id: expected number; ...`. */
const describeIssues = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, 5)
    .map(({ path, message }) => `/${path.join("/")}: ${message}`)
    .join("; ");

/** Called with the events of `storeEvents`. */
export type OnStoreEvent = (event: string, about: Record<string, unknown>) => void;

/** Reports when storing begins to fail, and when it works again. */
export const openHealth = (onEvent: OnStoreEvent): ((error?: Error) => void) => {
  let isLost = false;
  return (error) => {
    if (isLost === (error !== undefined)) return;
    isLost = error !== undefined;
    onEvent(isLost ? "store_lost" : "store_up", error ? { why: error.message } : {});
  };
};
