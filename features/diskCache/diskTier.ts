import { setTimeout as sleep } from "node:timers/promises";
import { endWithoutThread, startDiskThread } from "../../libraries/stores/diskThread.ts";
import { fromStored, namesFor, toStored } from "../../libraries/stores/storedEntry.ts";
import { StoringThread } from "../../libraries/stores/storingThread.ts";
import { type Entry, type Invalidation, makeStale, type SecondTier } from "../../src/gateway/index.ts";
import { monotonic, withTimeout } from "../../src/operation/index.ts";
import type { Ask, ThreadData, ThreadAnswer } from "./entriesThread.ts";
import { entryFileIn, type FileSize, type FoundRow } from "./entryFile.ts";
import { KnownKeys, numberOf } from "./knownKeys.ts";
import { type EntryRow, Rows } from "./rows.ts";
import { markGap, marksOf } from "./marks.ts";

/** Milliseconds that the disk may take for an answer, also until its file is opened. */
const PATIENCE_MS = 1000;
const PATIENCE_AT_START_MS = 5000;
/** Milliseconds that a write waits for the mark of a gap, after it has waited for the disk. */
const MARK_MS = 500;
/** Milliseconds after which entries go to the thread, or the bytes of a block that is full. */
const COLLECT_MS = 100;
const BLOCK_BYTES = 1024 ** 2;
/** Bytes of entries that wait for the disk, at most, and blocks, of which many are almost empty. */
const MAX_UNWRITTEN = 16 * 1024 ** 2;
const MAX_BLOCKS = 64;
/** Blocks that are kept to be used again: a new block makes the garbage collector work. */
const MAX_FREE = 2;
/** Milliseconds between two times at which room is given back, or a file that failed is emptied again. */
const TEND_MS = 5000;
const AGAIN_MS = 1000;
/** Invalidations that wait for the disk, at most. */
const MAX_TELLING = 2000;

type DiskTierSettings = {
  directory: string;
  bytes: number;
  /** The file has entries of an earlier run. */
  onRestored: () => void;
  /** The file was replaced by an empty one. */
  onEmptied: (why: string) => void;
  /** The disk does what it is asked, or not. */
  report: (isUp: boolean, why?: string) => void;
  count: (call: keyof typeof results, result: string) => void;
};

/** The calls of the tier, and their results. */
export const results = {
  get: ["hit", "miss", "late", "failed"],
  put: ["stored", "dropped", "failed"],
  invalidate: ["done", "late"],
} as const;

/**
 * The second tier of the cache, on the disk of this gateway. A thread of its own holds the file. Only look-ups wait for
 * the disk, and writes, until their invalidation is on it. If that takes too long, a gap begins: from then on the file
 * is not read until it has had all invalidations, and a mark tells the next start of it.
 */
export class DiskTier implements SecondTier {
  readonly #settings: DiskTierSettings;
  readonly #known: KnownKeys;
  readonly #thread: StoringThread;
  readonly #first: Promise<ThreadAnswer>;
  #size: FileSize = { entries: 0, bytes: 0, isShort: false };
  readonly #tending: NodeJS.Timeout;
  #isTending = false;
  /** When the gap began in which the file is not read. */
  #gapSince: number | undefined;
  /** The last mark of a gap or of its end: one is written after the other. */
  #marking = Promise.resolve();
  /** Entries that are not sent to the thread yet, and their keys. */
  #rows: Rows | undefined;
  readonly #collected = new Set<string>();
  /** Bytes of entries that are not stored yet, their blocks, and blocks to use again. */
  #unwritten = 0;
  #blocks = 0;
  readonly #free: Rows[] = [];
  #collecting: NodeJS.Timeout | undefined;
  /** When the invalidations were sent that the file has not had yet; and whether it has missed any. */
  readonly #tellingSince: number[] = [];
  #hasMissed = false;
  /** Answers that take too long, and have not come yet. */
  #late = 0;
  /** Something has failed since the last `tend`. */
  #hasFailed = false;
  #isClosed = false;
  /** Reports a failure of the disk. */
  readonly #lost = ({ message }: Error): void => {
    this.#hasFailed = true;
    this.#settings.report(false, message);
  };

  constructor(settings: DiskTierSettings) {
    this.#settings = settings;
    const { directory, bytes } = settings;
    this.#known = new KnownKeys(bytes);
    const data: ThreadData = { directory, bytes, known: this.#known.shared };
    this.#thread = new StoringThread(startDiskThread("entriesThread", import.meta.url, data), (error) => {
      if (!this.#isClosed) this.#lost(error);
    });
    this.#thread.worker.unref();
    this.#first = this.#nextAnswer();
    this.#inTime(this.#first, PATIENCE_AT_START_MS).catch(this.#lost);
    this.#tending = setInterval(() => this.#tend(), TEND_MS).unref();
    this.#tend();
  }

  /** Resolves when the file is open, or not in time. */
  async opened(): Promise<void> {
    await withTimeout(this.#first, PATIENCE_MS).catch(() => undefined);
  }

  /** The file as it was a few seconds ago. */
  size(): FileSize {
    return this.#size;
  }

  mayHave(key: string): boolean {
    return this.#known.mayHave(numberOf(key));
  }

  async get(key: string): Promise<Entry | undefined> {
    const { count } = this.#settings;
    if (!this.#mayRead()) return undefined;
    // The file may have an older one.
    if (this.#collected.has(key)) this.#flush();
    try {
      const patience = this.#known.areComplete ? PATIENCE_MS : PATIENCE_AT_START_MS;
      const answer = await this.#inTime(this.#ask({ get: key }), patience);
      const entry = answer === "late" ? undefined : await this.#read(key, answer.found);
      count("get", answer === "late" ? "late" : entry ? "hit" : "miss");
      return this.#mayRead() ? entry : undefined;
    } catch (error) {
      count("get", "failed");
      this.#lost(error as Error);
      return undefined;
    }
  }

  async #read(key: string, found: FoundRow | undefined): Promise<Entry | undefined> {
    try {
      return found && (await readFound(found));
    } catch (error) {
      // It is not what was written.
      await this.#ask({ invalidate: { keys: [key] } });
      throw error;
    }
  }

  #mayRead(): boolean {
    return this.#late === 0 && this.#gapSince === undefined && !this.#isClosed;
  }

  set(key: string, entry: Entry): void {
    if (this.#isClosed) return;
    const names = JSON.stringify(namesFor(entry));
    const row: EntryRow = { key, names, ...toStored(entry) };
    if (this.#rows?.hasRoom(row) === false) this.#flush();
    this.#rows ??= this.#takeBlock(Rows.sizeOf(row));
    if (this.#rows === undefined) return this.#settings.count("put", "dropped");
    this.#rows.add(row);
    this.#collected.add(key);
    this.#collecting ??= setTimeout(() => this.#flush(), COLLECT_MS).unref();
  }

  /** A block with so much room; `undefined` if too much waits for the disk. */
  #takeBlock(size: number): Rows | undefined {
    if (this.#unwritten + size > MAX_UNWRITTEN || this.#blocks === MAX_BLOCKS) return undefined;
    this.#blocks++;
    return (size <= BLOCK_BYTES && this.#free.pop()) || new Rows(Math.max(BLOCK_BYTES, size));
  }

  /** Sends the collected entries to the thread. */
  #flush(): void {
    clearTimeout(this.#collecting);
    this.#collecting = undefined;
    const rows = this.#rows;
    if (rows === undefined) return;
    this.#rows = undefined;
    this.#collected.clear();
    this.#inTime(this.#write(rows), PATIENCE_MS).catch(this.#lost);
  }

  async #write(rows: Rows): Promise<ThreadAnswer> {
    const { block, count, length } = rows;
    this.#unwritten += length;
    let result = "failed";
    try {
      const answer = await this.#ask({ put: block, count });
      result = answer.stored === 0 ? "dropped" : "stored";
      return answer;
    } finally {
      this.#unwritten -= length;
      this.#blocks--;
      rows.clear();
      if (block.byteLength === BLOCK_BYTES && this.#free.length < MAX_FREE) this.#free.push(rows);
      for (let i = 0; i < count; i++) this.#settings.count("put", result);
    }
  }

  async invalidate(invalidation: Invalidation): Promise<boolean> {
    // The entries before it go to the file before it.
    this.#flush();
    const telling = this.#tell(invalidation);
    const [first = 0] = this.#tellingSince;
    const left = this.#gapSince === undefined ? first + PATIENCE_MS - performance.now() : 0;
    const isInvalidated = (await withTimeout(telling, Math.max(0, left))) === true;
    this.#settings.count("invalidate", isInvalidated ? "done" : "late");
    if (!isInvalidated) await this.#inGap();
    return isInvalidated;
  }

  /** True when the file has had it; false if it cannot. */
  async #tell(invalidation: Invalidation): Promise<boolean> {
    if (this.#tellingSince.length === MAX_TELLING) {
      this.#hasMissed = true;
      return false;
    }
    this.#tellingSince.push(performance.now());
    try {
      await this.#ask({ invalidate: invalidation });
      return true;
    } catch (error) {
      this.#lost(error as Error);
      this.#hasMissed = true;
      return false;
    } finally {
      this.#tellingSince.shift();
      this.#endGap();
    }
  }

  /** Resolves when the gap is marked, or its mark is late: then a start after `kill -9` does not know of it. */
  async #inGap(): Promise<void> {
    const isFirst = this.#gapSince === undefined;
    const since = (this.#gapSince ??= performance.now());
    if (isFirst) {
      this.#lost(new Error("it has not taken in time what a write has changed"));
      this.#mark(true);
      this.#endGap();
    }
    const marked = await withTimeout(this.#marking, Math.max(0, since + MARK_MS - performance.now()));
    if (isFirst && marked === "late") endWithoutThread(this.#marking);
  }

  #mark(isGap: boolean): void {
    const path = marksOf(entryFileIn(this.#settings.directory));
    this.#marking = this.#marking.then(() => markGap(path, isGap)).catch(this.#lost);
  }

  /** Ends the gap once the file has had all invalidations, or was emptied because it has missed any. */
  #endGap(): void {
    if (this.#gapSince === undefined || this.#tellingSince.length > 0 || this.#isClosed) return;
    if (this.#hasMissed) return void this.#emptyFile().catch(this.#lost);
    this.#gapSince = undefined;
    this.#hasFailed = false;
    this.#mark(false);
    this.#tend();
  }

  async #emptyFile(): Promise<void> {
    this.#hasMissed = false;
    this.#tellingSince.push(performance.now());
    try {
      await this.#ask({ empty: "it has missed what a write has changed" });
    } catch (error) {
      this.#lost(error as Error);
      this.#hasMissed = true;
      await sleep(AGAIN_MS, undefined, { ref: false });
    }
    this.#tellingSince.shift();
    this.#endGap();
  }

  /** Lets the thread do what is due. */
  #tend(): void {
    if (this.#isTending || this.#isClosed) return;
    this.#isTending = true;
    const isWell = !this.#hasFailed;
    this.#hasFailed = false;
    this.#askToTend(isWell)
      .catch(this.#lost)
      .finally(() => (this.#isTending = false));
  }

  async #askToTend(isWell: boolean): Promise<void> {
    for (let isMore = true; isMore && this.#late === 0;) {
      const answer = await this.#inTime(this.#ask({ tend: true }), PATIENCE_AT_START_MS);
      isMore = answer !== "late" && answer.isMore === true;
    }
    if (this.#size.isShort) this.#lost(new Error("the disk of DATA_DIR is nearly full"));
    // Only this ends a trouble: it reads and writes.
    else if (isWell && this.#mayRead()) this.#settings.report(true);
  }

  /** Asks the thread. Rejects if it fails. */
  #ask(ask: Ask): Promise<ThreadAnswer> {
    if (this.#thread.failure !== undefined) return Promise.reject(this.#thread.failure);
    this.#thread.send(ask);
    return this.#nextAnswer();
  }

  async #nextAnswer(): Promise<ThreadAnswer> {
    const answer = (await this.#thread.nextMessage()) as ThreadAnswer;
    const { size, opened } = answer;
    if (size) this.#size = size;
    if (opened) {
      if (opened.emptied !== undefined) this.#settings.onEmptied(opened.emptied);
      if (opened.hasEntries) this.#settings.onRestored();
      // Its marks are new, too.
      if (this.#gapSince !== undefined) this.#mark(true);
    }
    return answer;
  }

  /** An answer, or "late". While one is late, the thread is asked nothing that can be left. */
  async #inTime(asking: Promise<ThreadAnswer>, patience: number): Promise<ThreadAnswer | "late"> {
    const answer = await withTimeout(asking, patience);
    if (answer !== "late") return answer;
    this.#lost(new Error(`it did not answer within ${patience} ms`));
    if (this.#late++ === 0) endWithoutThread(asking);
    const isOver = () => this.#late--;
    asking.then(isOver, isOver);
    return "late";
  }

  /** Resolves when the last entries are on the disk, or not in time. */
  async close(): Promise<void> {
    clearInterval(this.#tending);
    this.#flush();
    this.#isClosed = true;
    const closing = this.#thread.close();
    const closed = await withTimeout(closing, PATIENCE_MS).catch(this.#lost);
    if (closed === "late") return endWithoutThread(closing);
    // It has had all that was sent.
    if (this.#gapSince !== undefined && !this.#hasMissed) this.#mark(false);
    if ((await withTimeout(this.#marking, MARK_MS)) === "late") endWithoutThread(this.#marking);
  }
}

/** The entry as it may be used now, by what has come since it was stored. */
const readFound = async (found: FoundRow): Promise<Entry | undefined> => {
  const entry = await fromStored(found.head, Buffer.from(found.body.buffer, found.body.byteOffset, found.body.length));
  if (entry === undefined) return undefined;
  for (const { kind, at } of found.since) {
    if (kind === "list" && entry.status !== 200) return undefined;
    if (!makeStale(entry, monotonic.fromStored(at) ?? monotonic.now(), kind !== "stale")) return undefined;
  }
  return found.isOfEarlierRun ? { ...entry, isDoubtful: true } : entry;
};
