import type { Changes, KeyedStore, KeyedStoreSettings } from "../store/keyedStore.ts";

/** Values by key as they are sent; a key without a value was deleted. */
export type SentChanges = (readonly [key: string, value?: unknown])[];

/** A worker's `update`: it is made only if the latest value is still `seen`. */
export type SentUpdate = { key: string; seen?: unknown; made: unknown };

/** What an `update` comes to; `latest` is the value by now. Not done: another one came first. */
export type UpdateAnswer = { done: boolean; latest?: unknown };

/** What the primary process does for workers that have a copy of a store. */
export type StoreHost = {
  kind: KeyedStore<unknown>["kind"];
  /** Sends all values to one worker, in several messages. */
  sendAll: (send: (changes: SentChanges) => void) => Promise<void>;
  /** `from`: the worker that has made the change, and does not need to be told. */
  update: (update: SentUpdate, from: unknown) => Promise<UpdateAnswer>;
  save: (changes: SentChanges, isMinor: boolean, from: unknown) => void;
};

/** Tells all workers but one; resolves when they have heard it. */
export type TellWorkers = (changes: SentChanges, except?: unknown) => Promise<void>;

/** Values in one message. */
const MAX_SENT = 200;
/** Milliseconds after which minor changes are told: some of them change all the time. */
const MINOR_DELAY = 1000;

/** The changes as they are sent. */
export const sentChanges = (changes: Changes<unknown>): SentChanges =>
  [...changes].map(([key, value]) => (value === undefined ? [key] : [key, value]));

/** The changes that were sent. */
export const receivedChanges = <T>(sent: SentChanges): Map<string, T | undefined> =>
  new Map(sent.map(([key, value]) => [key, value as T | undefined]));

/** Opens a store that workers have copies of. An `update` resolves when all workers have it. */
export const hostStore = async <T>(
  settings: KeyedStoreSettings<T>,
  open: (settings: KeyedStoreSettings<T>) => Promise<KeyedStore<T>>,
  tell: TellWorkers,
): Promise<{ store: KeyedStore<T>; host: StoreHost }> => {
  const minor = openMinorChanges(tell);
  const tellChanges = (changes: Changes<T>, except?: unknown): Promise<void> => {
    minor.remove(changes.keys());
    return tell(sentChanges(changes), except);
  };
  const inner = await open({
    ...settings,
    onChange(changes) {
      settings.onChange(changes);
      void tellChanges(changes);
    },
  });
  /** Stores a value, here and in the workers. */
  const update = async (
    key: string,
    make: (latest: T | undefined) => T | undefined,
    from?: unknown,
  ): Promise<boolean> => {
    const isDone = await inner.update(key, make);
    if (!isDone) return false;
    const latest = () => new Map([[key, inner.entries().get(key)]]);
    if (from !== undefined) settings.onChange(latest());
    // Not what was made: the listener may have changed it.
    await tellChanges(latest(), from);
    return true;
  };
  const save = (changes: Changes<T>, isMinor: boolean, from?: unknown): void => {
    inner.save(changes, { isMinor });
    if (from !== undefined) settings.onChange(changes);
    if (isMinor) minor.add(changes);
    else void tellChanges(changes, from);
  };
  const host: StoreHost = {
    kind: inner.kind,
    async sendAll(send) {
      const keys = [...inner.entries().keys()];
      for (let i = 0; i < keys.length; i += MAX_SENT) {
        const entries = inner.entries();
        send(
          keys.slice(i, i + MAX_SENT).flatMap((key) => (entries.has(key) ? [[key, entries.get(key)] as const] : [])),
        );
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async update({ key, seen, made }, from) {
      const parsed = settings.schema(key).parse(made);
      const done = await update(
        key,
        (found) => (JSON.stringify(found) === JSON.stringify(seen) ? parsed : undefined),
        from,
      );
      return { done, latest: inner.entries().get(key) };
    },
    save: (changes, isMinor, from) => save(receivedChanges<T>(changes), isMinor, from),
  };
  const store: KeyedStore<T> = {
    ...inner,
    update: (key, make) => update(key, make),
    save: (changes, { isMinor = false } = {}) => save(changes, isMinor),
    async close() {
      minor.close();
      await inner.close();
    },
  };
  return { store, host };
};

/** Collects minor changes, and tells them together. */
const openMinorChanges = (tell: TellWorkers) => {
  const waiting = new Map<string, unknown>();
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    const changes = sentChanges(waiting);
    waiting.clear();
    if (changes.length > 0) void tell(changes);
  };
  return {
    add(changes: Changes<unknown>): void {
      for (const [key, value] of changes) waiting.set(key, value);
      timer ??= setTimeout(flush, MINOR_DELAY).unref();
    },
    remove(keys: Iterable<string>): void {
      for (const key of keys) waiting.delete(key);
    },
    close: () => clearTimeout(timer),
  };
};
