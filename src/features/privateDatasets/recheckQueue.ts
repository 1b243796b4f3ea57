import type { LegacyFailure, RowState } from "./readRow.ts";
import { openRetryUntil } from "./retryUntil.ts";
import { MAX_ID } from "./rows.ts";

/** Ids of rows that may have changed: they are read again one after the other, as soon as possible. */
export type RecheckQueue = {
  /** Adds an id. A read of it that is on its way does not count any more. */
  add: (id: number) => void;
  has: (id: number) => boolean;
  ids: () => number[];
  /** Resolves when the queue is empty, or when legacy fails. */
  settled: () => Promise<void>;
  /** Watches an id. The function that it returns ends that, and says whether the row may have changed meanwhile. */
  watch: (id: number) => () => boolean;
  /** Says that another gateway has read these rows: reads that are on their way may be older. */
  outdate: (ids: Iterable<number>) => void;
};

/** How a queue reads rows, and what it does with them. */
export type RecheckQueueSettings = {
  read: (id: number) => Promise<RowState | LegacyFailure>;
  /** Whether legacy answers other requests than one that fails. */
  legacyAnswers: () => Promise<boolean>;
  record: (id: number, state: RowState) => void;
  /** Called when there is no room for an id. */
  onFull: () => void;
  signal: AbortSignal;
  firstWait?: number | undefined;
};

const MAX_QUEUED = 1000;

/** A row at which only legacy fails is there, but hidden. */
export const recordable = (state: RowState | LegacyFailure): RowState =>
  state.ok ? state : { ok: true, found: "hidden", why: state.why };

/** Opens an empty queue, which works until `signal` aborts. */
export const openRecheckQueue = (settings: RecheckQueueSettings): RecheckQueue => {
  const { read, legacyAnswers, record, onFull, signal, firstWait } = settings;
  /** The symbol changes when an id is added again: the answer to an earlier read is outdated then. */
  const queued = new Map<number, symbol>();
  const watchers = new Set<{ id: number; isOutdated: boolean }>();
  const waiting: (() => void)[] = [];
  let isWorking = false;
  let isFailing = false;
  const release = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  const retryUntil = openRetryUntil({
    goesOn: () => !signal.aborted,
    onFailure(failure) {
      isFailing = failure !== undefined;
      if (isFailing) release();
    },
    signal,
    firstWait,
  });

  const work = async (): Promise<void> => {
    isWorking = true;
    // The iteration comes to ids that are added meanwhile, too.
    for (const [id, added] of queued) {
      const state = await retryUntil(() => read(id), legacyAnswers);
      if (state === undefined) break;
      if (queued.get(id) !== added) continue;
      queued.delete(id);
      record(id, recordable(state));
    }
    isWorking = false;
    release();
  };

  const outdate = (id: number): void => {
    for (const watcher of watchers) watcher.isOutdated ||= watcher.id === id;
    if (queued.delete(id)) queued.set(id, Symbol(id));
  };

  return {
    add(id) {
      // Any request can name an impossible id.
      if (signal.aborted || !(id >= 1 && id <= MAX_ID)) return;
      if (queued.size >= MAX_QUEUED && !queued.has(id)) return onFull();
      outdate(id);
      if (!queued.has(id)) queued.set(id, Symbol(id));
      if (!isWorking) void work();
    },
    outdate(ids) {
      for (const id of ids) outdate(id);
    },
    has: (id) => queued.has(id),
    ids: () => [...queued.keys()],
    settled: () =>
      new Promise((resolve) => {
        if (queued.size === 0 || isFailing) resolve();
        else waiting.push(resolve);
      }),
    watch(id) {
      const watcher = { id, isOutdated: queued.has(id) };
      watchers.add(watcher);
      return () => {
        watchers.delete(watcher);
        return watcher.isOutdated;
      };
    },
  };
};
