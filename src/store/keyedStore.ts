import type { z } from "zod";

/** Values by key; `undefined` for a key that was deleted. */
export type Changes<T> = ReadonlyMap<string, T | undefined>;

/** Durable or shared state: values by key. Every gateway has a copy of them in memory, which it reads without waiting. */
export type KeyedStore<T> = {
  kind: "memory" | "directory" | "redis";
  /** All values, as they are known here. A new object after every change. */
  entries(): ReadonlyMap<string, T>;
  /** Something is stored under this key that this version cannot read. It stays until an `update` replaces it. */
  isUnreadable(key: string): boolean;
  /**
   * Compare-and-set: stores what `make` returns for the latest stored value; returns false if `make` returns `undefined`. `make` may be
   * called again if another gateway changed the store meanwhile. Rejects if the write is not confirmed in time. It may still have succeeded;
   * `onChange` then reports it.
   */
  update(key: string, make: (latest: T | undefined) => T | undefined): Promise<boolean>;
  /**
   * Stores in the background, until it succeeds. `isMinor`: soon is enough, and a value that another gateway has stored meanwhile wins.
   */
  save(changes: Changes<T>, options?: { isMinor?: boolean }): void;
  /** Whether this gateway holds the store's lease: at most one gateway does at any time. */
  holdsLease(): boolean;
  /** Finishes what is being written, for a bounded time. */
  close(): Promise<void>;
};

/**
 * `lost`, `up`: the store does not work, and works again. `restored`: Redis had lost values that were put back. `overtaken`: Redis had
 * lost a value, and another gateway stored one meanwhile that wins. `unreadable`: stored data that this version cannot read. `error`: an
 * `update` could not be written to the disk.
 */
export type KeyedStoreEvent = "lost" | "up" | "restored" | "overtaken" | "unreadable" | "error";

/** A value that was put back; `replaced` is what stood in its place, if anything. */
export type RestoredValue<T> = { key: string; value: T | undefined; replaced: T | undefined };

/** What an event says beside its name. */
export type KeyedStoreAbout<T> = {
  why?: string;
  file?: string;
  keys?: readonly string[];
  restored?: readonly RestoredValue<T>[];
};

/** What every store is opened with. */
export type KeyedStoreSettings<T> = {
  /** Part of the names of files and Redis keys. */
  name: string;
  /** What the values are about: stores of another scope share nothing with this one. */
  scope?: string;
  /** What a value looks like; keys contain no line break. */
  schema: (key: string) => z.ZodType<T>;
  /** Whether a value belongs under a key; without it every value does. */
  fits?: (key: string, value: T) => boolean;
  /**
   * True for values that can be found out again. Opening then waits for nothing, and unreadable data is replaced. Otherwise opening rejects
   * if the stored values cannot be read, and leaves them as they are.
   */
  isRebuildable: boolean;
  /** At most one gateway at a time holds the lease of this store; without it none does. */
  hasLease?: boolean;
  /**
   * Decides between two values of one key. Without it the one with the higher version wins.
   * @param isFoundLater the found value has the higher version; otherwise Redis had lost the known one.
   */
  resolve?: (known: T, found: T, isFoundLater: boolean) => T;
  /** Called with values that others have changed; also with the values of an `update` that was reported as failed. */
  onChange: (changes: Changes<T>) => void;
  onEvent: (event: KeyedStoreEvent, about: KeyedStoreAbout<T>) => void;
};

/** Reads a stored value; the text says why it is not readable. */
export const readValue = <T>(
  { schema, fits }: Pick<KeyedStoreSettings<T>, "schema" | "fits">,
  key: string,
  json: unknown,
): { ok: true; value: T } | { ok: false; why: string } => {
  const parsed = schema(key).safeParse(json);
  if (!parsed.success) return { ok: false, why: `/${key}${describeIssues(parsed.error)}` };
  const isFitting = fits?.(key, parsed.data) ?? true;
  return isFitting ? { ok: true, value: parsed.data } : { ok: false, why: `/${key}: the value of another key` };
};

/** The first few places where a value departs from its schema: `/rows/0/id: expected number; ...`. */
const describeIssues = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, 5)
    .map(({ path, message }) => `/${path.join("/")}: ${message}`)
    .join("; ");
