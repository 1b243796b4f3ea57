import type { z } from "zod";
import type { KeyedStore, KeyedStoreAbout, KeyedStoreEvent, KeyedStoreSettings } from "../../../store/keyedStore.ts";
import { memoryStore } from "../../../store/localStore.ts";
import { type Change, type PrivateRow, rowSchema, type Walk, walkSchema } from "../rows.ts";

/** Where the index of private rows is kept. Only opening it can reject: the index goes on in memory if its store fails. */
export type IndexStore = {
  kind: "memory" | "directory" | "redis";
  /** Stores a change in the background. */
  save(change: Change): void;
  /** Whether this gateway is the one that crawls; asked before every step. */
  mayWalk(): boolean;
  /** Waits for a bounded time until everything is stored. */
  close(): Promise<void>;
};

/**
 * `lost`, `up`: the store does not work, and works again. `unreadable`: what was stored cannot be read, or is of another legacy: the crawl
 * begins anew. `restored`: Redis had lost what this gateway knows, and has it again.
 */
export type IndexStoreEvent = `private_index_store_${"lost" | "up" | "unreadable" | "restored"}`;

/** What a store is opened with. */
export type IndexStoreParts = {
  /** Called with what was stored before; `isWhole`: all of it, when the store is opened. And with what another gateway has found out. */
  onChange: (change: Change, isWhole: boolean) => void;
  onEvent: (event: IndexStoreEvent, about: Record<string, unknown>) => void;
};

/** Opens a store; rejects, with the setting's name, if the place can never be used. */
export type OpenIndexStore = (parts: IndexStoreParts) => Promise<IndexStore>;

/** A row, stored under its id; or how far the crawl is, stored under `walk`. */
export type IndexRecord = PrivateRow | Walk;

const WALK = "walk";

const schema = (key: string): z.ZodType<IndexRecord> => (key === WALK ? walkSchema : rowSchema);
const fits = (key: string, record: IndexRecord): boolean => key === (isRow(record) ? String(record.id) : WALK);

const isRow = (record: IndexRecord): record is PrivateRow => "id" in record;

const changeOf = (records: Iterable<readonly [string, IndexRecord | undefined]>): Change => {
  const change: Change = { rows: [], gone: [] };
  for (const [key, record] of records) {
    if (record === undefined) {
      if (key !== WALK) change.gone.push(Number(key));
    } else if (isRow(record)) change.rows.push(record);
    else change.walk = record;
  }
  return change;
};

/** Opens an index of one legacy over the values that `open` opens. */
export const indexStoreOver =
  (
    scope: string,
    open: (settings: KeyedStoreSettings<IndexRecord>) => Promise<KeyedStore<IndexRecord>>,
  ): OpenIndexStore =>
  async ({ onChange, onEvent }) => {
    const store = await open({
      name: "private-rows",
      scope,
      schema,
      fits,
      isRebuildable: true,
      hasLease: true,
      onChange: (changes) => onChange(changeOf(changes), false),
      onEvent(event, about) {
        // Neither matters here: rows have no order in time, and none is stored by `update`.
        if (event !== "overtaken" && event !== "error")
          onEvent(`private_index_store_${event}`, describeEvent(event, about));
      },
    });
    const stored = store.entries();
    if (stored.size > 0) onChange(changeOf(stored), true);
    return asIndexStore(store);
  };

/** An index store in memory: every start looks for the rows anew. */
export const memoryIndexStore: OpenIndexStore = () =>
  Promise.resolve(asIndexStore(memoryStore<IndexRecord>({ schema, onEvent: () => undefined })));

const asIndexStore = (store: KeyedStore<IndexRecord>): IndexStore => ({
  kind: store.kind,
  save({ rows, gone, walk }) {
    const changes = new Map<string, IndexRecord | undefined>(gone.map((id) => [String(id), undefined]));
    for (const row of rows) changes.set(String(row.id), withoutUndefined(row));
    if (changes.size > 0) store.save(changes);
    // It changes with every step, and only the next gateway that crawls needs it.
    if (walk !== undefined) store.save(new Map([[WALK, walk]]), { isMinor: true });
  },
  mayWalk: () => store.holdsLease(),
  close: () => store.close(),
});

/** As it will be read again. */
const withoutUndefined = ({ id, shown, uploader }: PrivateRow): PrivateRow => ({
  id,
  ...(shown && { shown }),
  ...(uploader !== undefined && { uploader }),
});

const describeEvent = (
  event: KeyedStoreEvent,
  { keys, restored = [], ...about }: KeyedStoreAbout<IndexRecord>,
): Record<string, unknown> => {
  if (event === "restored") return { rows: restored.filter(({ key }) => key !== WALK).length };
  return keys === undefined ? about : { fields: keys.slice(0, 10), count: keys.length };
};
