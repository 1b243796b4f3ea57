import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { monotonic, type Settings } from "../../src/operation/index.ts";
import { type IdSet, MAX_ID, openIdSet } from "./idSet.ts";
import type { Stores } from "../../libraries/stores/keyValueStore.ts";

const idSchema = z.int().min(1).max(MAX_ID);
const countSchema = z.int().min(0);

/**
 * A private dataset. `shown`: its members as legacy lists them; absent if legacy does not show it. `uploader`:
 * its owner's id, if known.
 */
const rowSchema = z.strictObject({
  id: idSchema,
  shown: z.record(z.string(), z.json()).optional(),
  uploader: idSchema.optional(),
});

/** The stored progress of the scan. The sets of ids are texts. `completedAt`: milliseconds since the epoch. */
const progressSchema = z.strictObject({
  highest: countSchema,
  listed: z.base64(),
  unknown: z.base64(),
  recheckedUpTo: countSchema,
  completedAt: countSchema.optional(),
});

export type PrivateRow = z.infer<typeof rowSchema>;
type StoredRecord = PrivateRow | z.infer<typeof progressSchema>;

/** The progress of the scan. */
export type Progress = {
  /** The highest id of a dataset. */
  highest: number;
  /** The ids that the last completed scan had in the public list. */
  listed: IdSet;
  /** The ids that legacy does not know, although it knows higher ids. Legacy does not give them again. */
  unknown: IdSet;
  /** The unknown ids were read again up to this id. */
  recheckedUpTo: number;
  /**
   * When the last scan ended: `at` in milliseconds since the epoch, `moment` by `performance.now()`. A stored time
   * in the future is ignored.
   */
  completed?: { at: number; moment: number } | undefined;
};

/** The settings that say where legacy is. */
type LegacySettings = Pick<Settings, "LEGACY_URL" | "LEGACY_PATH" | "LEGACY_HOST">;

/** Identifies the legacy of the datasets. It is a hash, so that the address is not stored. */
export const scopeOf = ({ LEGACY_URL, LEGACY_PATH, LEGACY_HOST }: LegacySettings): string => {
  const { origin, host } = new URL(LEGACY_URL);
  return hash("sha256", JSON.stringify([origin, LEGACY_PATH, LEGACY_HOST ?? host]), "base64url").slice(0, 16);
};

type ScanResultsSettings = {
  stores: Pick<Stores, "kind" | "open" | "claim">;
  scope: string;
  /** Called after each change of a row, and of the public list. */
  onChange: () => void;
};

/** The results of the scan. */
export type ScanResults = Awaited<ReturnType<typeof openScanResults>>;

const PROGRESS = "scan";

const rowOf = (record: StoredRecord | undefined): PrivateRow | undefined =>
  record !== undefined && "id" in record ? record : undefined;

const progressFrom = (record: StoredRecord | undefined): Progress => {
  if (record === undefined || "id" in record)
    return { highest: 0, listed: openIdSet(), unknown: openIdSet(), recheckedUpTo: 0 };
  const { completedAt: at, ...others } = record;
  const moment = at === undefined ? undefined : monotonic.fromStored(at);
  const completed = at === undefined || moment === undefined ? undefined : { at, moment };
  return { ...others, listed: openIdSet(record.listed), unknown: openIdSet(record.unknown), completed };
};

const recordOf = ({ listed, unknown, completed, ...others }: Progress): StoredRecord => {
  const texts = { listed: listed.toText(), unknown: unknown.toText() };
  return { ...others, ...texts, ...(completed && { completedAt: completed.at }) };
};

/** Opens the known private datasets, and the progress of the scan. */
export const openScanResults = async ({ stores, scope, onChange }: ScanResultsSettings) => {
  const feature = `private-rows:${scope}`;
  const claim = stores.claim(feature);
  const schema = (key: string): z.ZodType<StoredRecord> => (key === PROGRESS ? progressSchema : rowSchema);
  const unread = new Set<number>();
  const instead = (key: string): PrivateRow | undefined => {
    const { data: id } = idSchema.safeParse(Number(key));
    if (id === undefined || String(id) !== key) return undefined;
    unread.add(id);
    return { id };
  };
  const store = await stores.open<StoredRecord>({ feature, schema, instead });
  let scansHere = false;
  let ordered: readonly PrivateRow[] | undefined;
  let version = 0;

  const changed = () => {
    ordered = undefined;
    version++;
    onChange();
  };
  let progress = progressFrom(store.get(PROGRESS));
  /** Ignores a failure: the next call saves the progress. */
  const saveProgress = async (): Promise<void> => {
    await store.update(PROGRESS, () => recordOf(progress)).catch(() => false);
  };
  store.onChange((changes) => {
    if (changes.has(PROGRESS)) progress = progressFrom(store.get(PROGRESS));
    if ([...changes.keys()].some((key) => key !== PROGRESS)) changed();
  });

  return {
    get: (id: number): PrivateRow | undefined => rowOf(store.get(String(id))),
    /** All rows, by id: a new array after each change. */
    rows: () =>
      (ordered ??= [...store.entries().values()]
        .flatMap((record) => rowOf(record) ?? [])
        .toSorted((a, b) => a.id - b.id)),
    /** The ids of stored rows that could not be read. They count as private datasets whose members are unknown. */
    unread,
    /** Changes with every change of a row. */
    version: () => version,
    /** The progress: a new object if Redis has lost it, or another gateway has scanned. */
    progress: () => progress,
    /**
     * Adds or replaces a row. Without an uploader it keeps the known uploader.
     *
     * @throws If the row cannot be stored.
     */
    async put({ id, shown, ...next }: PrivateRow): Promise<void> {
      const isChanged = await store.update(String(id), (latest) => {
        const before = rowOf(latest);
        const uploader = next.uploader ?? before?.uploader;
        // The members and their order are those of a row read from the store.
        const row = { id, ...(shown && { shown }), ...(uploader !== undefined && { uploader }) };
        return isDeepStrictEqual(before, row) && !unread.has(id) ? undefined : row;
      });
      if (isChanged) changed();
    },
    /** @throws If the change cannot be stored. */
    async remove(id: number): Promise<void> {
      if (await store.update(String(id), (latest) => latest && null)) changed();
    },
    saveProgress,
    /** Records the end of a scan that found these ids in the public list. */
    async complete(listed: IdSet): Promise<void> {
      Object.assign(progress, { listed, completed: { at: Date.now(), moment: performance.now() } });
      onChange();
      await saveProgress();
    },
    /** Asks if this gateway may scan. */
    mayScan: async (): Promise<boolean> => (scansHere = await claim()),
    /** The last answer of `mayScan`. */
    scansHere: () => scansHere,
    storeKind: stores.kind,
  };
};
