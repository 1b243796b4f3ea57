import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Settings } from "../../settings/settings.ts";
import type { KeyedStore, KeyedStoreSettings } from "../../store/keyedStore.ts";
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

/** Opens the store. */
export type OpenFoundStore = (settings: KeyedStoreSettings<FoundRecord>) => Promise<KeyedStore<FoundRecord>>;

type FoundSettings = {
  openStore: OpenFoundStore;
  scope: string;
  /** Called after each change of a row. */
  onRows: () => void;
  onEvent: (event: string, about: Record<string, unknown>) => void;
};

/** What the scan has found. */
export type Found = ReturnType<typeof openFound>;

const PROGRESS = "scan";

/** The private datasets that are known, and how far the scan is: in memory, and in the store once `start` has opened it. */
export const openFound = ({ openStore, scope, onRows, onEvent }: FoundSettings) => {
  const byId = new Map<number, PrivateRow>();
  let store: KeyedStore<FoundRecord> | undefined;
  let ordered: readonly PrivateRow[] | undefined;
  let version = 0;
  let progress: Progress = { highest: 0, listed: openIdSet(), unknown: openIdSet(), recheckedUpTo: 0 };

  const changed = () => {
    ordered = undefined;
    version++;
    onRows();
  };
  const take = (records: Iterable<readonly [string, FoundRecord | undefined]>): void => {
    let hasRow = false;
    for (const [key, record] of records) {
      hasRow ||= key !== PROGRESS;
      if (record === undefined) byId.delete(Number(key));
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
    progress: () => progress,
    /** Adds or replaces a row. Without an uploader it keeps the one that is known. */
    put(next: PrivateRow): void {
      const { shown, uploader = byId.get(next.id)?.uploader } = next;
      // As it will be read again.
      const row = { id: next.id, ...(shown && { shown }), ...(uploader !== undefined && { uploader }) };
      if (isDeepStrictEqual(byId.get(row.id), row)) return;
      byId.set(row.id, row);
      store?.save(new Map([[String(row.id), row]]));
      changed();
    },
    remove(one: number): void {
      if (!byId.delete(one)) return;
      store?.save(new Map([[String(one), undefined]]));
      changed();
    },
    /** Stores how far the scan is. Only the next scan needs it. */
    saveProgress(): void {
      const { listed, unknown, completedAt, ...others } = progress;
      const texts = { listed: listed.toText(), unknown: unknown.toText() };
      const record = { ...others, ...texts, ...(completedAt !== undefined && { completedAt }) };
      store?.save(new Map([[PROGRESS, record]]), { isMinor: true });
    },
    /** Whether this gateway is the one that scans. */
    mayScan: (): boolean => store?.holdsLease() ?? false,
    kind: () => store?.kind ?? "memory",
    /** Opens the store; rejects, with the setting's name, if it cannot be used. */
    async start(): Promise<void> {
      store = await openStore({
        name: "private-rows",
        scope,
        schema: (key): z.ZodType<FoundRecord> => (key === PROGRESS ? progressSchema : rowSchema),
        fits: (key, record) => key === ("id" in record ? String(record.id) : PROGRESS),
        isRebuildable: true,
        hasLease: true,
        onChange: take,
        onEvent(event, { why, file }) {
          // Neither matters here: no row is stored by `update`, and the next scan reads each again.
          if (event !== "overtaken" && event !== "error") onEvent(`private_index_store_${event}`, { why, file });
        },
      });
      take(store.entries());
    },
    close: async (): Promise<void> => store?.close(),
  };
};
