import type { RowById } from "../../src/catalogue/index.ts";
import { type AskLegacy, type DatasetState, isAdministrators, LegacyFailure, readDataset } from "./askLegacy.ts";
import { MAX_ID, openIdSet } from "./idSet.ts";
import { openReadQueue } from "./readQueue.ts";
import { delayOf, openSleep } from "./scanPace.ts";
import type { Progress, ScanResults } from "./scanResults.ts";

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
/** Reads between two savings. A process that is killed loses as many. */
const SAVED_EVERY = 100;
/** Milliseconds between two checks whether a scan is due. */
const TICK = 1000;

/** The scan as operators see it. Times are ISO 8601. */
export type PrivateRowsView = ReturnType<Scanner["view"]>;

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

/**
 * The scan for private datasets. Each scan asks for the public list, and then reads the ids outside it, one at a time:
 * ids never read, known private datasets, ids that have left the list, and some beyond the highest. It reads an unknown
 * id once, and later a few of them in each scan.
 */
export class Scanner {
  readonly #settings: ScannerSettings;
  readonly #results: ScanResults;
  readonly #options: Required<ScanOptions>;
  readonly #sleep: ReturnType<typeof openSleep>;
  readonly #queue: ReturnType<typeof openReadQueue>;
  /** The public list of the scan that runs. */
  #listedNow = openIdSet();
  /** The id that is being read. */
  #at = 0;
  /** The reason why the scan does not go on, and when it is tried again, on the clock of `performance.now()`. */
  #trouble: { why: string; retryAt: number } | undefined;

  constructor(settings: ScannerSettings) {
    this.#settings = settings;
    this.#results = settings.scanResults;
    this.#options = { ...defaults, ...settings.options };
    this.#sleep = openSleep(settings.signal);
    this.#queue = openReadQueue(this.#sleep.end);
  }

  /** Scans until the signal aborts. */
  async run(): Promise<void> {
    const { pause, retry } = this.#options;
    while (!this.#settings.signal.aborted) {
      try {
        await this.#readQueue();
        if ((await this.#results.mayScan()) && this.#isDue()) await this.#scan();
      } catch (error) {
        this.#failed(error as Error);
        await this.#results.saveProgress();
      }
      this.#at = 0;
      if (this.#queue.isEmpty() || this.#trouble !== undefined) await this.#sleep.begin(Math.min(TICK, pause, retry));
    }
    this.#queue.giveUp();
  }

  /** Reads the ids that were added to the queue, and those whose stored rows could not be read. */
  async #readQueue(): Promise<void> {
    const { unread } = this.#results;
    if (unread.size > 0 && (await this.#results.mayScan())) for (const id of unread) this.#queue.add(id);
    if (!this.#isResting()) await this.#queue.drain((id) => this.#read(id));
  }

  /** True after a failure, until the scan may try again. */
  #isResting(): boolean {
    return this.#trouble !== undefined && performance.now() < this.#trouble.retryAt;
  }

  #isDue(): boolean {
    return !this.#isResting() && this.#age() >= this.#options.pause;
  }

  /** Milliseconds since the last scan ended; infinite before the first scan. */
  #age(): number {
    return performance.now() - (this.#results.progress().completed?.moment ?? -Infinity);
  }

  async #scan(): Promise<void> {
    const { margin, slice } = this.#options;
    await this.#checkKey();
    const progress = await this.#readList();
    let reads = 0;
    /** Unknown ids that may still be read again. The first scan reads each id once. */
    let rereads = progress.completed === undefined ? 0 : slice;
    for (let id = 1; id <= progress.highest + margin; id++) {
      const isKnown = this.#results.get(id) !== undefined;
      if (!isKnown && this.#listedNow.has(id)) continue;
      if (!isKnown && progress.unknown.has(id)) {
        if (rereads === 0 || id <= progress.recheckedUpTo) continue;
        rereads--;
        progress.recheckedUpTo = id;
      }
      this.#at = id;
      if (!(await this.#takeTurn())) return this.#results.saveProgress();
      await this.#read(id);
      // Redis has lost the results, or another gateway has scanned: the next scan starts over.
      if (this.#results.progress() !== progress) return;
      if (++reads % SAVED_EVERY === 0) await this.#results.saveProgress();
    }
    // No unknown id was left: the next scan begins with the first again.
    if (rereads > 0) progress.recheckedUpTo = 0;
    this.#trouble = undefined;
    await this.#results.complete(this.#listedNow);
  }

  /** @throws A `LegacyFailure` unless legacy answers and takes the key for an administrator's. */
  async #checkKey(): Promise<void> {
    const { ask, onKey } = this.#settings;
    if (!(await isAdministrators(ask))) throw new LegacyFailure("the key is no administrator's", true);
    onKey(true);
  }

  /** Fetches the public list, adds its ids to the progress, and returns that. */
  async #readList(): Promise<Progress> {
    const ids = await this.#settings.fetchListed();
    const progress = this.#results.progress();
    if (ids.length === 0) await this.#checkEmptied(progress);
    this.#listedNow = openIdSet();
    for (const id of ids) {
      if (id > MAX_ID) continue;
      this.#listedNow.add(id);
      progress.unknown.delete(id);
      progress.highest = Math.max(progress.highest, id);
    }
    return progress;
  }

  /**
   * Asks for a dataset of the last list. If a part of its database fails, legacy lists no datasets and shows none.
   *
   * @throws A `LegacyFailure` unless that dataset is gone or private.
   */
  async #checkEmptied({ highest, listed }: Progress): Promise<void> {
    const { ask, rowById } = this.#settings;
    let id = 1;
    while (id <= highest && !listed.has(id)) id++;
    if (id > highest) return;
    const { is } = await readDataset(ask, rowById, id);
    if (is !== "none" && is !== "private") throw new LegacyFailure("its public list is empty, and was not");
  }

  /**
   * Waits until the scan may send its next request: the queue and callers of legacy come first. False if this
   * gateway no longer scans.
   */
  async #takeTurn(): Promise<boolean> {
    const { signal, load } = this.#settings;
    const since = performance.now();
    while (!signal.aborted && (await this.#results.mayScan())) {
      await this.#queue.drain((id) => this.#read(id));
      const ms = delayOf(load(), performance.now() - since);
      if (ms === 0) return true;
      await this.#sleep.begin(ms);
    }
    return false;
  }

  /** Reads an id and stores its state. If legacy fails at this id only, its dataset is hidden. */
  async #read(id: number): Promise<void> {
    const { ask, rowById, signal } = this.#settings;
    const isLast = id >= this.#results.progress().highest;
    const state = await readDataset(ask, rowById, id).catch(async () => {
      await this.#checkKey();
      return readDataset(ask, rowById, id).catch(({ message: why }: Error) => ({ is: "hidden" as const, why }));
    });
    signal.throwIfAborted();
    this.#trouble = undefined;
    await this.#record(id, state, isLast);
    this.#results.unread.delete(id);
  }

  async #record(id: number, state: DatasetState, isLast: boolean): Promise<void> {
    const results = this.#results;
    const progress = results.progress();
    if (state.is === "none") {
      // A new dataset may still get an id beyond all others.
      if (!isLast) progress.unknown.add(id);
      progress.listed.delete(id);
      this.#listedNow.delete(id);
      return results.remove(id);
    }
    progress.unknown.delete(id);
    if (state.is === "private") {
      progress.highest = Math.max(progress.highest, id);
      return results.put({ id, shown: state.shown });
    }
    // The public list has datasets that legacy does not show singly.
    if (state.is === "public" || this.#listedNow.has(id)) return results.remove(id);
    const known = results.get(id);
    if (known === undefined || known.shown !== undefined)
      this.#settings.onEvent("private_row_hidden", { id, why: state.why });
    return results.put({ id });
  }

  #failed(error: Error): void {
    const { signal, onEvent, onKey } = this.#settings;
    if (signal.aborted) return;
    const isRefused = error instanceof LegacyFailure && error.isRefused;
    // The store itself reports that a value cannot be stored.
    if (this.#trouble === undefined && error instanceof LegacyFailure)
      onEvent(isRefused ? "private_scan_refused" : "private_scan_failed", { why: error.message });
    if (isRefused) onKey(false, error.message);
    this.#trouble = { why: error.message, retryAt: performance.now() + this.#options.retry };
    this.#queue.giveUp();
  }

  /** Reads an id before all others: it may have changed. */
  readNext(id: number): void {
    if (!this.#settings.signal.aborted) this.#queue.add(id);
  }

  /** The ids that are still to be read before all others. */
  pending(): number[] {
    return this.#queue.ids();
  }

  /** Resolves when no ids are pending, or when legacy fails. */
  whenNonePending(): Promise<void> {
    return this.#queue.whenEmpty();
  }

  /** True if the last scan ended within the last hour. */
  isCurrent(): boolean {
    return this.#age() <= OUTDATED;
  }

  view() {
    const { highest, completed } = this.#results.progress();
    const rows = this.#results.rows();
    /** `scanning`: the first scan is not over. `outdated`: the last scan ended more than an hour ago. */
    const state: "scanning" | "complete" | "outdated" =
      completed === undefined ? "scanning" : this.isCurrent() ? "complete" : "outdated";
    return {
      state,
      /** The reason why the scan does not go on: legacy cannot be asked, or the results cannot be stored. */
      ...(this.#trouble && { trouble: this.#trouble.why }),
      /** Known private datasets, and how many of them legacy does not show even to the administrator. */
      rows: rows.length,
      hidden: rows.filter(({ shown }) => shown === undefined).length,
      /** The id that is being read, 0 between two scans; and the last id to read. */
      at: this.#at,
      lastId: highest === 0 ? 0 : highest + this.#options.margin,
      ...(completed && { completedAt: new Date(completed.at).toISOString() }),
      /** Requests to legacy since the start. */
      calls: this.#settings.spent.calls,
      kept: this.#results.storeKind,
      /** True if this gateway scans; others may wait for their turn. */
      scansHere: this.#results.scansHere(),
    };
  }
}
