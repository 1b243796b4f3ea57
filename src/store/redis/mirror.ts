import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { type Changes, type KeyedStoreSettings, readValue } from "../keyedStore.ts";
import { parseAs } from "./script.ts";

/** A value, or that it was deleted, and the number of the change that stored it. */
type StoredRecord<T> = { version: number; value: T | undefined };

/** Records that are to be written, and what to call when they are. */
export type PendingWrite<T> = { records: readonly (readonly [string, StoredRecord<T>])[]; done: () => void };

/** What a mirror is opened with. */
export type MirrorSettings<T> = Pick<KeyedStoreSettings<T>, "schema" | "fits" | "resolve" | "onChange" | "onEvent">;

/** Values written at once: more follow in further writes. */
const MAX_WRITTEN = 500;

const recordSchema = z.strictObject({ version: z.int().min(0), value: z.unknown().optional() });

/** What this gateway knows of the values in Redis, what it still has to write there, and what Redis has lost. */
export class Mirror<T> {
  /** The highest number of any change. */
  number = 0;
  /** Keys of stored values that this version cannot read. */
  readonly unreadable = new Set<string>();
  readonly #settings: MirrorSettings<T>;
  readonly #known = new Map<string, StoredRecord<T>>();
  /** Keys whose value here is newer than the stored one. */
  readonly #unsaved = new Map<string, { isMinor: boolean }>();
  /** Keys whose value Redis has lost, with what stands there instead. */
  readonly #lost = new Map<string, T | undefined>();
  #entries: ReadonlyMap<string, T> | undefined;
  #changed = new Map<string, T | undefined>();

  constructor(settings: MirrorSettings<T>) {
    this.#settings = settings;
  }

  /** All values but the deleted ones. */
  entries(): ReadonlyMap<string, T> {
    return (this.#entries ??= new Map(
      [...this.#known].flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value] as const])),
    ));
  }

  latest(key: string): T | undefined {
    return this.#known.get(key)?.value;
  }

  /** Whether Redis has, or had, anything. */
  isBegun(): boolean {
    return this.unreadable.size > 0 || this.#known.values().some(({ version }) => version > 0);
  }

  /** Takes over a reading: keys and texts by turns. `isAll`: every key that Redis has. */
  take(pairs: readonly (string | null)[], isAll: boolean): void {
    const { onEvent } = this.#settings;
    const there = new Set<string>();
    const strange: string[] = [];
    for (let i = 0; i + 1 < pairs.length; i += 2) {
      const [key, text] = [pairs[i] ?? "", pairs[i + 1]];
      if (typeof text !== "string") continue;
      there.add(key);
      this.#lost.delete(key);
      const found = this.#parse(key, text);
      if (found === undefined && !this.unreadable.has(key)) strange.push(key);
      if (found === undefined) this.unreadable.add(key);
      else {
        this.unreadable.delete(key);
        this.#settle(key, found);
      }
    }
    if (isAll) {
      for (const key of this.unreadable) if (!there.has(key)) this.unreadable.delete(key);
      // Deleted values leave a record behind. So a missing one was lost: by a flush, an eviction, a failover to a replica that was behind.
      for (const key of this.#known.keys())
        if (!there.has(key) && !this.#unsaved.has(key)) this.#lost.set(key, undefined);
    }
    if (strange.length > 0) onEvent("unreadable", { keys: strange });
    this.#tell();
  }

  #parse(key: string, text: string): StoredRecord<T> | undefined {
    const record = parseAs(recordSchema, text);
    if (record === undefined || record.value === undefined) return record && { ...record, value: undefined };
    const result = readValue(this.#settings, key, record.value);
    return result.ok ? { version: record.version, value: result.value } : undefined;
  }

  /** Decides between the known and the found value of a key. */
  #settle(key: string, found: StoredRecord<T>): void {
    const { resolve, onEvent } = this.#settings;
    const ours = this.#known.get(key);
    const waiting = this.#unsaved.get(key);
    this.number = Math.max(this.number, found.version);
    if (ours === undefined || isDeepStrictEqual(ours.value, found.value))
      return this.#set(key, { ...found, version: Math.max(found.version, ours?.version ?? 0) }, true);
    const isLater = found.version > ours.version;
    const isMerged = resolve !== undefined && ours.value !== undefined && found.value !== undefined;
    // What waits here is the newest; but a minor value gives way.
    if (waiting && !isMerged && !(waiting.isMinor && isLater)) return;
    const byVersion = found.version >= ours.version ? found.value : ours.value;
    const value =
      resolve && ours.value !== undefined && found.value !== undefined
        ? resolve(ours.value, found.value, isLater && !waiting)
        : byVersion;
    if (isDeepStrictEqual(value, found.value)) {
      if (!isLater) onEvent("overtaken", { keys: [key] });
      this.#unsaved.delete(key);
      return this.#set(key, found, true);
    }
    if (waiting) return this.#set(key, { version: ours.version, value }, true);
    this.#lost.set(key, found.value);
    // A mixture of both is another value than each.
    if (!isDeepStrictEqual(value, ours.value)) this.#set(key, { version: this.number + 1, value }, true);
  }

  #set(key: string, record: StoredRecord<T>, isTold: boolean): void {
    const before = this.#known.get(key);
    this.#known.set(key, record);
    this.number = Math.max(this.number, record.version);
    if (isDeepStrictEqual(before?.value, record.value)) return;
    this.#entries = undefined;
    if (isTold) this.#changed.set(key, record.value);
  }

  #tell(): void {
    const changes = this.#changed;
    this.#changed = new Map();
    if (changes.size > 0) this.#settings.onChange(changes);
  }

  /** What is to be written next: first what Redis has lost, then what was saved; minor values alone only if `isBeat`. */
  pending(isBeat: boolean): PendingWrite<T> | undefined {
    if (this.#lost.size > 0) return this.#pendingLost();
    const isDue = isBeat || this.#unsaved.values().some(({ isMinor }) => !isMinor);
    const due = isDue ? [...this.#unsaved].slice(0, MAX_WRITTEN) : [];
    if (due.length === 0) return undefined;
    const records = due.map(([key]) => [key, { version: this.number + 1, value: this.latest(key) }] as const);
    const marks = new Map(due);
    const done = () => {
      for (const [key, { version }] of records) {
        this.unreadable.delete(key);
        // It may have been saved anew meanwhile.
        if (this.#unsaved.get(key) === marks.get(key)) this.#unsaved.delete(key);
        this.#known.set(key, { version, value: this.latest(key) });
      }
    };
    return { records, done };
  }

  #pendingLost(): PendingWrite<T> {
    const records = [...this.#lost.keys()].slice(0, MAX_WRITTEN).flatMap((key) => {
      const record = this.#known.get(key);
      return record ? [[key, record] as const] : [];
    });
    const done = () => {
      const restored = records.map(([key, { value }]) => ({ key, value, replaced: this.#lost.get(key) }));
      for (const [key] of records) this.#lost.delete(key);
      this.#settings.onEvent("restored", { restored });
    };
    return { records, done };
  }

  /** The write of a new value. `isTold`: whether it is reported, once it is done. */
  update(key: string, value: T, isTold: () => boolean): PendingWrite<T> {
    const record = { version: this.number + 1, value };
    const done = () => {
      this.#unsaved.delete(key);
      this.unreadable.delete(key);
      this.#set(key, record, isTold());
      this.#tell();
    };
    return { records: [[key, record]], done };
  }

  /** Values that are to be written. */
  save(changes: Changes<T>, isMinor: boolean): void {
    for (const [key, value] of changes) {
      this.#set(key, { version: this.#known.get(key)?.version ?? 0, value }, false);
      this.#unsaved.set(key, { isMinor });
    }
  }
}
