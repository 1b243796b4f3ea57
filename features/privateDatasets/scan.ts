import { withTimeout } from "../../src/operation/index.ts";
import type { RowById } from "../../src/catalogue/index.ts";
import { type AskLegacy, type DatasetState, isAdministrators, LegacyFailure, readDataset } from "./askLegacy.ts";
import { type ScanResults, MAX_ID, openIdSet } from "./scanResults.ts";
import { openReadQueue } from "./readQueue.ts";

/** Options of the scan, for tests. */
export type ScanOptions = {
  /** Milliseconds from the end of a scan to the next scan, and until a failed scan begins again. */
  pause?: number;
  retry?: number;
  /** Ids beyond the highest known id that are read: the newest dataset may be private. */
  margin?: number;
  /** Unknown ids that each scan reads again. */
  slice?: number;
};

/** The defaults of the options. */
const defaults = { pause: 10 * 60_000, retry: 30_000, margin: 100, slice: 300 };
/** Milliseconds after which the results of a scan are out of date. */
const OUTDATED = 60 * 60_000;
/**
 * While callers use legacy: milliseconds from one request to the next, and the share of the connections
 * at which the scan waits.
 */
const SPACING = 100;
const BUSY_SHARE = 1 / 4;
/** Milliseconds after which a scan that waits for callers looks again. */
const LOOK_AGAIN = SPACING / 10;
/** Reads between two savings. A process that is killed loses as many. */
const SAVED_EVERY = 100;
/** Milliseconds between two checks whether a scan is due. */
const TICK = 1000;

/** The scan as operators see it. Times are ISO 8601. */
export type PrivateRowsView = {
  /** `scanning`: the first scan is not over. `outdated`: the last scan ended more than an hour ago. */
  state: "scanning" | "complete" | "outdated";
  /** The reason why the scan does not go on: legacy cannot be asked, or the results cannot be stored. */
  trouble?: string | undefined;
  /** Known private datasets, and how many of them legacy does not show even to the administrator. */
  rows: number;
  hidden: number;
  /** The id that is being read, 0 between two scans; and the last id to read. */
  at: number;
  lastId: number;
  completedAt?: string | undefined;
  /** Requests to legacy since the start. */
  calls: number;
  kept: "memory" | "directory" | "redis";
  /** True if this gateway scans; others may wait for their turn. */
  scansHere: boolean;
};

/** The parts of a scanner. */
type ScannerSettings = {
  scanResults: ScanResults;
  /** Asks legacy with the administrator's key. */
  ask: AskLegacy;
  rowById: RowById;
  /** The ids of all datasets that legacy lists without a key. */
  fetchListed: () => Promise<readonly number[]>;
  /** The share of the connections to legacy that callers use. */
  load: () => number;
  onEvent: (event: string, about: Record<string, unknown>) => void;
  /** Called when legacy has accepted the key as an administrator's, or has not, with the reason. */
  onKey: (isAccepted: boolean, why?: string) => void;
  spent: { calls: number };
  signal: AbortSignal;
  options?: ScanOptions;
};

/** The scan for private datasets. */
export type Scanner = ReturnType<typeof openScanner>;

/**
 * Makes a scanner. Each scan asks for the public list, and then reads the ids outside it, one at a time: ids never
 * read, known private datasets, ids that have left the list, and some beyond the highest. It reads an unknown id once,
 * and later a few of them in each scan.
 */
export const openScanner = (settings: ScannerSettings) => {
  const { scanResults, ask, rowById, fetchListed, load, onEvent, onKey, spent, signal, options } = settings;
  const { pause, retry, margin, slice } = { ...defaults, ...options };
  const sleep = openSleep(signal);
  const queue = openReadQueue(sleep.end);
  /** The public list of the scan that runs. */
  let listedNow = openIdSet();
  /** The id that is being read. */
  let at = 0;
  /** The reason why the scan does not go on, and when it is tried again, on the clock of `performance.now()`. */
  let trouble: string | undefined;
  let retryAt = -Infinity;

  const failed = (error: Error): void => {
    if (signal.aborted) return;
    // The store itself reports that a value cannot be stored.
    if (trouble === undefined && error instanceof LegacyFailure)
      onEvent(error.isRefused ? "private_scan_refused" : "private_scan_failed", { why: error.message });
    if (error instanceof LegacyFailure && error.isRefused) onKey(false, error.message);
    trouble = error.message;
    retryAt = performance.now() + retry;
    queue.giveUp();
  };

  /** @throws A `LegacyFailure` unless legacy answers and takes the key for an administrator's. */
  const checkKey = async (): Promise<void> => {
    if (!(await isAdministrators(ask))) throw new LegacyFailure("the key is no administrator's", true);
    onKey(true);
  };

  /** Stores the state of an id. */
  const record = async (id: number, state: DatasetState, isLast: boolean): Promise<void> => {
    const progress = scanResults.progress();
    if (state.is === "none") {
      // A new dataset may still get an id beyond all others.
      if (!isLast) progress.unknown.add(id);
      progress.listed.delete(id);
      listedNow.delete(id);
      return scanResults.remove(id);
    }
    progress.unknown.delete(id);
    if (state.is === "private") {
      progress.highest = Math.max(progress.highest, id);
      return scanResults.put({ id, shown: state.shown });
    }
    // The public list has datasets that legacy does not show singly.
    if (state.is === "public" || listedNow.has(id)) return scanResults.remove(id);
    const known = scanResults.get(id);
    if (known === undefined || known.shown !== undefined) onEvent("private_row_hidden", { id, why: state.why });
    return scanResults.put({ id });
  };

  /** Reads an id and stores its state. If legacy fails at this id only, its dataset is hidden. */
  const read = async (id: number): Promise<void> => {
    const isLast = id >= scanResults.progress().highest;
    const state = await readDataset(ask, rowById, id).catch(async () => {
      await checkKey();
      return readDataset(ask, rowById, id).catch(({ message: why }: Error) => ({ is: "hidden" as const, why }));
    });
    signal.throwIfAborted();
    trouble = undefined;
    await record(id, state, isLast);
    scanResults.unread.delete(id);
  };

  /**
   * Waits until the scan may send its next request: the queue and callers of legacy come first. False if this
   * gateway no longer scans.
   */
  const takeTurn = async (): Promise<boolean> => {
    const since = performance.now();
    while (!signal.aborted && (await scanResults.mayScan())) {
      await queue.drain(read);
      const ms = delayOf(load(), performance.now() - since);
      if (ms === 0) return true;
      await sleep.begin(ms);
    }
    return false;
  };

  /**
   * Asks for a dataset of the last list. If a part of its database fails, legacy lists no datasets and shows none.
   *
   * @throws A `LegacyFailure` unless that dataset is gone or private.
   */
  const checkEmptied = async ({ highest, listed }: ReturnType<ScanResults["progress"]>): Promise<void> => {
    let id = 1;
    while (id <= highest && !listed.has(id)) id++;
    if (id > highest) return;
    const { is } = await readDataset(ask, rowById, id);
    if (is !== "none" && is !== "private") throw new LegacyFailure("its public list is empty, and was not");
  };

  /** Fetches the public list, adds its ids to the progress, and returns that. */
  const readList = async () => {
    const ids = await fetchListed();
    const progress = scanResults.progress();
    if (ids.length === 0) await checkEmptied(progress);
    listedNow = openIdSet();
    for (const id of ids) {
      if (id > MAX_ID) continue;
      listedNow.add(id);
      progress.unknown.delete(id);
      progress.highest = Math.max(progress.highest, id);
    }
    return progress;
  };

  const scan = async (): Promise<void> => {
    await checkKey();
    const progress = await readList();
    let reads = 0;
    /** Unknown ids that may still be read again. The first scan reads each id once. */
    let rereads = progress.completed === undefined ? 0 : slice;
    for (let id = 1; id <= progress.highest + margin; id++) {
      const isKnown = scanResults.get(id) !== undefined;
      if (!isKnown && listedNow.has(id)) continue;
      if (!isKnown && progress.unknown.has(id)) {
        if (rereads === 0 || id <= progress.recheckedUpTo) continue;
        rereads--;
        progress.recheckedUpTo = id;
      }
      at = id;
      if (!(await takeTurn())) return scanResults.saveProgress();
      await read(id);
      // Redis has lost the results, or another gateway has scanned: the next scan starts over.
      if (scanResults.progress() !== progress) return;
      if (++reads % SAVED_EVERY === 0) await scanResults.saveProgress();
    }
    // No unknown id was left: the next scan begins with the first again.
    if (rereads > 0) progress.recheckedUpTo = 0;
    trouble = undefined;
    await scanResults.complete(listedNow);
  };

  /** Milliseconds since the last scan ended; infinite before the first scan. */
  const age = (): number => performance.now() - (scanResults.progress().completed?.moment ?? -Infinity);
  const isDue = (): boolean => performance.now() >= retryAt && age() >= pause;
  /** True if the last scan ended within the last hour. */
  const isCurrent = (): boolean => age() <= OUTDATED;

  return {
    isCurrent,
    /** Scans until the signal aborts. */
    async run(): Promise<void> {
      while (!signal.aborted) {
        try {
          if (scanResults.unread.size > 0 && (await scanResults.mayScan()))
            for (const id of scanResults.unread) queue.add(id);
          if (performance.now() >= retryAt) await queue.drain(read);
          if ((await scanResults.mayScan()) && isDue()) await scan();
        } catch (error) {
          failed(error as Error);
          await scanResults.saveProgress();
        }
        at = 0;
        if (queue.isEmpty() || trouble !== undefined) await sleep.begin(Math.min(TICK, pause, retry));
      }
      queue.giveUp();
    },
    /** Reads an id before all others: it may have changed. */
    readNext: (id: number): void => {
      if (!signal.aborted) queue.add(id);
    },
    /** The ids that are still to be read before all others. */
    pending: queue.ids,
    /** Resolves when no ids are pending, or when legacy fails. */
    whenNonePending: queue.whenEmpty,
    view: (): PrivateRowsView => {
      const { highest, completed } = scanResults.progress();
      const rows = scanResults.rows();
      return {
        state: completed === undefined ? "scanning" : isCurrent() ? "complete" : "outdated",
        ...(trouble !== undefined && { trouble }),
        rows: rows.length,
        hidden: rows.filter(({ shown }) => shown === undefined).length,
        at,
        lastId: highest === 0 ? 0 : highest + margin,
        ...(completed && { completedAt: new Date(completed.at).toISOString() }),
        calls: spent.calls,
        kept: scanResults.storeKind,
        scansHere: scanResults.scansHere(),
      };
    },
  };
};

/** A sleep that can be ended early. */
const openSleep = (signal: AbortSignal) => {
  let woken = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => woken.resolve());
  return {
    /** Sleeps at most `ms` milliseconds. */
    async begin(ms: number): Promise<void> {
      woken = Promise.withResolvers();
      if (!signal.aborted) await withTimeout(woken.promise, ms);
    },
    end: (): void => woken.resolve(),
  };
};

/**
 * Milliseconds that the scan waits before it checks again if it may send a request, after it has waited `waited` ms;
 * 0: it may. `share`: the share of the connections that callers use. It does not wait while they use none, and keeps
 * waiting while they use many.
 */
const delayOf = (share: number, waited: number): number => {
  if (share === 0) return 0;
  if (waited < SPACING) return Math.max(SPACING - waited, LOOK_AGAIN);
  return share < BUSY_SHARE ? 0 : LOOK_AGAIN;
};
