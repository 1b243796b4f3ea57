import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Settings } from "../../settings/settings.ts";
import type { KeyValueStore, Stores } from "../../store/store.ts";
import { type IdSet, MAX_ID, openIdSet } from "./idSet.ts";

const id = z.int().min(1).max(MAX_ID);
const count = z.int().min(0);

/** A private dataset. `shown`: its members as legacy lists them; absent if legacy does not show it. `uploader`: its owner's id, if known. */
const rowSchema = z.strictObject({ id, shown: z.record(z.string(), z.json()).optional(), uploader: id.optional() });

/** How far the scan is. The sets of ids are texts. Times are milliseconds since the epoch. */
const progressSchema = z.strictObject({
  highest: count,
  listed: z.base64(),
  unknown: z.base64(),
  recheckedUpTo: count,
  completedAt: count.optional(),
});

/** A private dataset. */
export type PrivateRow = z.infer<typeof rowSchema>;
type FoundRecord = PrivateRow | z.infer<typeof progressSchema>;

/** How far the scan is. */
type Progress = {
  /** The highest id of a dataset. */
  highest: number;
  /** The ids that the last completed scan had in the public list. */
  listed: IdSet;
  /** The ids that legacy does not know, though it knows higher ones. They are not given again. */
  unknown: IdSet;
  /** These were read again up to here. */
  recheckedUpTo: number;
  completedAt?: number | undefined;
};

/** The settings that say where legacy is. */
type LegacySettings = Pick<Settings, "LEGACY_URL" | "LEGACY_PATH" | "LEGACY_HOST">;

/** Which legacy the datasets are of. It is a hash, so that the address is not stored. */
export const scopeOf = ({ LEGACY_URL, LEGACY_PATH, LEGACY_HOST }: LegacySettings): string => {
  // The sample legacy has another port at each start, and is the same one.
  const { origin, host } = LEGACY_URL === undefined ? { origin: "the sample legacy", host: "" } : new URL(LEGACY_URL);
  return hash("sha256", JSON.stringify([origin, LEGACY_PATH, LEGACY_HOST ?? host]), "base64url").slice(0, 16);
};

type FoundSettings = {
  stores: Pick<Stores, "place" | "open" | "claim">;
  scope: string;
  /** Called after each change of a row. */
  onRows: () => void;
};

/** What the scan has found. */
export type Found = ReturnType<typeof openFound>;

const PROGRESS = "scan";
const noProgress = (): Progress => ({ highest: 0, listed: openIdSet(), unknown: openIdSet(), recheckedUpTo: 0 });

/** The private datasets that are known, and how far the scan is: in memory, and in the store once `start` has opened it. */
export const openFound = ({ stores, scope, onRows }: FoundSettings) => {
  const byId = new Map<number, PrivateRow>();
  const feature = `private-rows:${scope}`;
  const claim = stores.claim(feature);
  /** Keys that the next `save` stores. */
  const unsaved = new Set<string>();
  let store: KeyValueStore<FoundRecord> | undefined;
  let scansHere = false;
  let ordered: readonly PrivateRow[] | undefined;
  let version = 0;
  let progress = noProgress();

  const changed = () => {
    ordered = undefined;
    version++;
    onRows();
  };
  const progressRecord = (): FoundRecord => {
    const { listed, unknown, completedAt, ...others } = progress;
    const texts = { listed: listed.toText(), unknown: unknown.toText() };
    return { ...others, ...texts, ...(completedAt !== undefined && { completedAt }) };
  };
  const take = (records: Iterable<readonly [string, FoundRecord | undefined]>): void => {
    let hasRow = false;
    for (const [key, record] of records) {
      // What was found here is later.
      if (unsaved.has(key)) continue;
      hasRow ||= key !== PROGRESS;
      if (key === PROGRESS && record === undefined) progress = noProgress();
      else if (record === undefined) byId.delete(Number(key));
      else if ("id" in record) byId.set(record.id, record);
      else progress = { ...record, listed: openIdSet(record.listed), unknown: openIdSet(record.unknown) };
    }
    if (hasRow) changed();
  };

  return {
    get: (one: number): PrivateRow | undefined => byId.get(one),
    /** All rows, by id: another array after each change. */
    rows: () => (ordered ??= [...byId.values()].toSorted((a, b) => a.id - b.id)),
    /** Changes with every change of a row. */
    version: () => version,
    /** Another object after a change from outside: Redis has lost it, or another gateway has scanned. */
    progress: () => progress,
    /** Adds or replaces a row. Without an uploader it keeps the one that is known. */
    put(next: PrivateRow): void {
      const { shown, uploader = byId.get(next.id)?.uploader } = next;
      // As it will be read again.
      const row = { id: next.id, ...(shown && { shown }), ...(uploader !== undefined && { uploader }) };
      if (isDeepStrictEqual(byId.get(row.id), row)) return;
      byId.set(row.id, row);
      unsaved.add(String(row.id));
      changed();
    },
    remove(one: number): void {
      if (!byId.delete(one)) return;
      unsaved.add(String(one));
      changed();
    },
    /** How far the scan is is stored with the next `save`. */
    progressed: () => void unsaved.add(PROGRESS),
    /** Stores what has changed since the last time. What cannot be stored waits for the next time, and the store says why. */
    async save(): Promise<void> {
      for (const key of unsaved) {
        const record = key === PROGRESS ? progressRecord() : byId.get(Number(key));
        unsaved.delete(key);
        const isStored = await store?.update(key, () => record ?? null).catch(() => false);
        if (!isStored) return void unsaved.add(key);
      }
    },
    /** Asks whether this gateway is the one that scans. */
    mayScan: async (): Promise<boolean> => (scansHere = await claim()),
    /** What it said last. */
    scansHere: () => scansHere,
    place: stores.place,
    /** Takes over what is stored. */
    async start(): Promise<void> {
      const schema = (key: string): z.ZodType<FoundRecord> => (key === PROGRESS ? progressSchema : rowSchema);
      store = await stores.open<FoundRecord>({ feature, schema });
      store.onChange(take);
      take(store.entries());
    },
  };
};
