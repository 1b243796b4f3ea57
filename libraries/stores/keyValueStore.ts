import type { z } from "zod";
import { openSerialQueue, type SerialQueue } from "./serialQueue.ts";
import { parseJson } from "../../src/catalogue/index.ts";
import type { RunScript } from "./redis.ts";

/** Values by key; `undefined` for a key that is gone. */
export type Changes<T> = ReadonlyMap<string, T | undefined>;

/**
 * Durable or shared state of one feature: values by key. Every gateway has a copy of them in memory, which
 * it reads without waiting.
 */
export type KeyValueStore<T> = {
  get(key: string): T | undefined;
  /** All values. A new object after every change. */
  entries(): ReadonlyMap<string, T>;
  /**
   * Compare-and-set: stores what `make` returns for the latest stored value, `null` deletes it; returns false if `make`
   * returns `undefined`. `make` may be called again if another update came first.
   *
   * @throws If the write is not confirmed in time. If it is made all the same, it is taken back when the store answers
   *   again, unless somebody has written since.
   */
  update(key: string, make: (latest: T | undefined) => T | null | undefined): Promise<boolean>;
  /** Calls the listener with what another gateway has changed, or Redis has lost. */
  onChange(listener: (changes: Changes<T>) => void): void;
};

/** What a feature opens its store with. */
export type StoreSettings<T> = {
  /** The name of the store, also in Redis. */
  feature: string;
  /** What a value looks like. */
  schema: (key: string) => z.ZodType<T>;
  /** The start is refused where a value cannot be read. */
  isVital?: boolean;
  /** What a value that cannot be read counts as. Else it is dropped, or what was read before holds. */
  instead?: (key: string) => T | undefined;
  /** The start waits for Redis, and is refused without it. */
  needsRedis?: boolean;
};

/** What stores are opened with. */
export type StoresSettings = {
  REDIS_URL?: string | undefined;
  DATA_DIR?: string | undefined;
  /** A check stores nothing, and may run beside the gateway. */
  isCheck?: boolean;
  onEvent: OnStoreEvent;
  /**
   * Milliseconds that an update waits at most, and that the start waits for Redis or the disk, of which it says after
   * `hint` that it hangs; a test may change them.
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
  /** Gives a function that asks whether this gateway does this work now. At any time at most one gateway does. */
  claim(work: string): () => Promise<boolean>;
  /** Runs a script of a feature in Redis, if there is one. */
  run?: RunScript;
  /** From now on nothing is stored. */
  close(): Promise<void>;
};

/**
 * Stores a text under a key, or deletes it. False where another gateway has changed the store since it was last taken
 * over: it is taken over then, and nothing is written.
 */
export type WriteText = (key: string, text: string | undefined) => Promise<boolean>;

/** A store, and what its place does with it. */
type StoreInPlace<T> = KeyValueStore<T> & {
  /**
   * Takes over all texts that are stored.
   *
   * @throws At the start, with the key and the reason, if a vital one cannot be read.
   */
  take(texts: ReadonlyMap<string, string>, isStart?: boolean): void;
  /**
   * Stores what is known again where these texts, which are stored, are different: a write was made
   * after it had been refused.
   */
  takeBack(texts: ReadonlyMap<string, string>): Promise<void>;
  /** Runs a task between updates. */
  inTurn: SerialQueue;
};

/** An update fails where another one came first so often. */
const MAX_COLLISIONS = 100;

/** Makes the store of a feature, which is empty until it takes over what is stored. Reports `store_unreadable`. */
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
  const takeBack: StoreInPlace<T>["takeBack"] = async (texts) => {
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
    // One after the other: what was read before an update is not taken over after it.
    update: (...about) => inTurn(() => update(...about)),
    onChange: (listener) => void listeners.push(listener),
    take,
    takeBack,
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
