import type { LegacyFailure, RowState } from "./readRow.ts";
import { openRetryUntil } from "./retryUntil.ts";
import { MAX_ID } from "./rows.ts";

/** How a queue reads and records rows. */
type RecheckQueueSettings = {
  read: (id: number) => Promise<RowState | LegacyFailure>;
  /** Whether legacy answers other requests than one that fails. */
  legacyAnswers: () => Promise<boolean>;
  record: (id: number, state: RowState) => void;
  /** Called when there is no room for an id. */
  onFull: () => void;
  signal: AbortSignal;
  firstWait?: number | undefined;
};

/** Ids of rows that may have changed: they are read again one after the other, as soon as possible. */
export type RecheckQueue = ReturnType<typeof openRecheckQueue>;

const MAX_QUEUED = 1000;

/** The state that is recorded after a read. A row at which legacy fails exists, but is hidden. */
export const recordable = (state: RowState | LegacyFailure): RowState =>
  state.ok ? state : { ok: true, found: "hidden", why: state.why };

/** Opens an empty queue, which works until `signal` aborts. */
export const openRecheckQueue = (settings: RecheckQueueSettings) => {
  const { signal } = settings;
  const queued = new Set<number>();
  const reads = new Set<{ id: number; isOutdated: boolean }>();
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
    firstWait: settings.firstWait,
  });

  const beginRead = (id: number, isOutdated: boolean) => {
    const read = { id, isOutdated };
    reads.add(read);
    return (): boolean => {
      reads.delete(read);
      return read.isOutdated;
    };
  };
  const outdateOne = (id: number): void => {
    for (const read of reads) read.isOutdated ||= read.id === id;
    if (queued.delete(id)) queued.add(id);
  };
  const work = async (): Promise<void> => {
    isWorking = true;
    // The iteration includes ids that are added meanwhile.
    for (const id of queued) {
      const endRead = beginRead(id, false);
      const state = await retryUntil(() => settings.read(id), settings.legacyAnswers);
      const isOutdated = endRead();
      if (state === undefined) break;
      if (isOutdated) continue;
      queued.delete(id);
      settings.record(id, recordable(state));
    }
    isWorking = false;
    release();
  };

  return {
    /** Adds an id. A running read of it does not count any more. */
    add(id: number): void {
      // Any request can name an impossible id.
      if (signal.aborted || !(id >= 1 && id <= MAX_ID)) return;
      if (queued.size >= MAX_QUEUED && !queued.has(id)) return settings.onFull();
      outdateOne(id);
      queued.add(id);
      if (!isWorking) void work();
    },
    /** Another gateway has read these rows: running reads of them may be older, and do not count. */
    outdate(ids: Iterable<number>): void {
      for (const id of ids) outdateOne(id);
    },
    has: (id: number): boolean => queued.has(id),
    ids: (): number[] => [...queued],
    /** Resolves when the queue is empty, or when legacy fails. */
    settled: (): Promise<void> =>
      new Promise((resolve) => {
        if (queued.size === 0 || isFailing) resolve();
        else waiting.push(resolve);
      }),
    /** Observes an id. The returned function ends this, and returns whether the row may have changed meanwhile. */
    watch: (id: number): (() => boolean) => beginRead(id, queued.has(id)),
  };
};
