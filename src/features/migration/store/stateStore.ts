import { z } from "zod";
import { type LedgerEntry, entrySchema } from "../../../compare/ledger.ts";
import type { KeyedStore, KeyedStoreAbout, KeyedStoreEvent, KeyedStoreSettings } from "../../../store/keyedStore.ts";
import { memoryStore } from "../../../store/localStore.ts";
import { gateChanges, type Move, type StageInForce, stageNames, stageSchema } from "../stage.ts";

/** What survives a restart: the stages set at run time, the audit log (newest first), and the expected differences that operators added. */
export type MigrationState = {
  stages: Record<string, StageInForce>;
  audit: Move[];
  expected: LedgerEntry[];
};

/** The store of the migration's state. */
export type StateStore = {
  /** The state in force; the same object until it changes. */
  state(): MigrationState;
  /**
   * Sets one endpoint's stage and logs the move. False if another move came first: `seen` is the `since` of the stage that the caller saw,
   * or undefined if it was never set. Rejects if the write is not confirmed in time. It may still have succeeded; `onChange` then reports it.
   */
  move(endpoint: string, to: StageInForce, move: Move, seen: string | undefined): Promise<boolean>;
  /** Adds an expected difference; false if its id is taken. Rejects as `move` does. */
  expect(entry: LedgerEntry): Promise<boolean>;
  /** The listener is called after another gateway has changed something. */
  onChange(listener: (state: MigrationState) => void): void;
  /** Resolves when pending writes have ended. */
  close(): Promise<void>;
};

/**
 * `lost`, `up`: Redis does not work, and works again. `restored`: Redis had lost values, which were written again. `overtaken`: a lost stage
 * was not written again, because a later move of the same endpoint is in force. `unreadable`: a value that this version cannot read is left
 * alone. `unknown`: the stage of an endpoint that does not exist is left alone. `error`: a change could not be written to the disk.
 */
type StoreEvent = `migration_store_${KeyedStoreEvent | "unknown"}`;

/** Receives the events of the store. */
export type OnStoreEvent = (event: StoreEvent, about: { endpoint?: string } & Record<string, unknown>) => void;

/** The stage and moves of an endpoint, stored under `stage/<endpoint>`; or an expected difference, stored under `expected/<id>`. */
export type MigrationRecord = { stage?: StageInForce | undefined; moves: Move[] } | { entry: LedgerEntry };

const STAGE = "stage/";
const EXPECTED = "expected/";
/** Lines of the audit log. */
const MAX_MOVES = 1000;

const instant = z.iso.datetime({ offset: true });
const moved = z.strictObject({ stage: z.enum(stageNames), share: z.int().min(0).max(100) });

/** A stage as it is stored. */
const stageInForceSchema: z.ZodType<StageInForce> = stageSchema.extend({
  since: instant,
  movedAt: instant.optional(),
  by: z.string(),
  why: z.string(),
  configured: z.string().optional(),
});

/** A line of the audit log as it is stored. */
const moveSchema: z.ZodType<Move> = z.strictObject({
  at: instant,
  endpoint: z.string().min(1),
  by: z.string(),
  why: z.string(),
  from: moved,
  to: moved,
  gate: z.enum(gateChanges).optional(),
  despite: z.string().optional(),
  all: instant.optional(),
});

const stageRecordSchema = z.strictObject({ stage: stageInForceSchema.optional(), moves: z.array(moveSchema) });

const entryRecordSchema = z.strictObject({ entry: entrySchema });

const schema = (key: string): z.ZodType<MigrationRecord> =>
  key.startsWith(STAGE) ? stageRecordSchema : entryRecordSchema;
const fits = (key: string, record: MigrationRecord): boolean =>
  !("entry" in record) || key === EXPECTED + record.entry.id;

const stateOf = (records: ReadonlyMap<string, MigrationRecord>): MigrationState => {
  const state: MigrationState = { stages: {}, audit: [], expected: [] };
  for (const [key, record] of records) {
    if ("entry" in record) state.expected.push(record.entry);
    else {
      if (record.stage) state.stages[key.slice(STAGE.length)] = record.stage;
      state.audit.push(...record.moves);
    }
  }
  return { ...state, audit: newest(state.audit) };
};

const newest = (moves: readonly Move[]): Move[] =>
  moves.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at)).slice(0, MAX_MOVES);

/** The later stage, and the moves of both. If Redis has lost its count of changes, `since` tells which stage is the later one. */
const resolve = (known: MigrationRecord, found: MigrationRecord, isFoundLater: boolean): MigrationRecord => {
  if ("entry" in known || "entry" in found) return found;
  const isTheirs = isFoundLater || Date.parse(found.stage?.since ?? "") >= Date.parse(known.stage?.since ?? "");
  const there = new Set(found.moves.map((move) => JSON.stringify(move)));
  const missing = known.moves.filter((move) => !there.has(JSON.stringify(move)));
  return {
    stage: isTheirs || known.stage === undefined ? (found.stage ?? known.stage) : known.stage,
    moves: missing.length === 0 ? found.moves : newest([...found.moves, ...missing]),
  };
};

/** What a state store is opened with. */
export type StateStoreSettings = {
  onEvent: OnStoreEvent;
  /** The endpoints that exist; stages of others are reported and left alone. */
  endpoints?: readonly string[] | undefined;
};

/** Opens a state store over the values that `open` opens. */
export const openStateStore = async (
  { onEvent, endpoints }: StateStoreSettings,
  open: (settings: KeyedStoreSettings<MigrationRecord>) => Promise<KeyedStore<MigrationRecord>>,
): Promise<StateStore> => {
  const listeners: ((state: MigrationState) => void)[] = [];
  const unknown = new Set<string>();
  const reportUnknown = (keys: Iterable<string>) => {
    for (const key of keys) {
      const endpoint = key.slice(STAGE.length);
      if (!key.startsWith(STAGE) || unknown.has(endpoint) || endpoints?.includes(endpoint) !== false) continue;
      unknown.add(endpoint);
      onEvent("migration_store_unknown", { endpoint });
    }
  };
  const store = await open({
    name: "migration",
    schema,
    fits,
    isRebuildable: false,
    resolve,
    onEvent: (event, about) => {
      for (const one of describeEvent(event, about)) onEvent(`migration_store_${event}`, one);
    },
    onChange(changes) {
      reportUnknown(changes.keys());
      if (listeners.length > 0) for (const listener of listeners) listener(stateStore.state());
    },
  });
  const stateStore = stateStoreOver(store, listeners);
  reportUnknown(store.entries().keys());
  return stateStore;
};

/** A state store in memory: its state ends with the process. */
export const memoryStateStore = (): StateStore =>
  stateStoreOver(memoryStore<MigrationRecord>({ schema, onEvent: () => undefined }), []);

const stateStoreOver = (
  store: KeyedStore<MigrationRecord>,
  listeners: ((state: MigrationState) => void)[],
): StateStore => {
  let last: { of: ReadonlyMap<string, MigrationRecord>; state: MigrationState } | undefined;
  return {
    state() {
      const records = store.entries();
      if (last?.of !== records) last = { of: records, state: stateOf(records) };
      return last.state;
    },
    async move(endpoint, to, move, seen) {
      const [stage, line] = [stageInForceSchema.parse(to), moveSchema.parse(move)];
      return store.update(STAGE + endpoint, (latest = { moves: [] }) => {
        if ("entry" in latest || latest.stage?.since !== seen) return undefined;
        return { stage, moves: [line, ...latest.moves].slice(0, MAX_MOVES) };
      });
    },
    async expect(entry) {
      const parsed = entrySchema.parse(entry);
      const key = EXPECTED + parsed.id;
      return store.update(key, (latest) => (latest || store.isUnreadable(key) ? undefined : { entry: parsed }));
    },
    onChange: (listener) => void listeners.push(listener),
    close: () => store.close(),
  };
};

/** The fields of an event in the log: one line for each value that is not readable. */
const describeEvent = (
  event: KeyedStoreEvent,
  { keys = [], restored, ...about }: KeyedStoreAbout<MigrationRecord>,
): ({ endpoint?: string } & Record<string, unknown>)[] => {
  if (restored !== undefined) {
    const movesOf = (record: MigrationRecord | undefined) => (record && "moves" in record ? record.moves.length : 0);
    const named = (prefix: string) =>
      restored.flatMap(({ key }) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []));
    const moves = restored.reduce((sum, { value, replaced }) => sum + movesOf(value) - movesOf(replaced), 0);
    return [{ stages: named(STAGE), moves, expected: named(EXPECTED) }];
  }
  if (event !== "unreadable" && event !== "overtaken") return [{ ...about }];
  return keys.map((key) => {
    const [kind = "", ...rest] = key.split("/");
    return { [kind === "stage" ? "endpoint" : kind]: rest.join("/") };
  });
};
