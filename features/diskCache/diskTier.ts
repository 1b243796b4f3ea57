import { extname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endWithoutThread, startDiskThread } from "../../libraries/stores/diskThread.ts";
import { fromStored, toStored } from "../../libraries/stores/storedEntry.ts";
import { StoringThread } from "../../libraries/stores/storingThread.ts";
import { afterRestart, type Entry, type Invalidation, makeStale, type SecondTier } from "../../src/gateway/index.ts";
import { monotonic, withTimeout } from "../../src/operation/index.ts";
import type { Ask, ThreadData, Told } from "./entriesThread.ts";
import { type EntryRow, type FileSize, type FoundRow, marksIn } from "./entryFile.ts";
import { KnownKeys, numberOf } from "./knownKeys.ts";
import { Unwritten } from "./unwritten.ts";
import { markGap } from "./marks.ts";

/** Milliseconds that the disk may take for an answer, also until its file is opened. */
const PATIENCE_MS = 1000;
const PATIENCE_AT_START_MS = 5000;
/** Milliseconds that a write waits for the mark of a gap, after it has waited for the disk. */
const MARK_MS = 500;
/** Milliseconds after which entries go to the thread. */
const COLLECT_MS = 100;
/** Milliseconds between two times at which room is given back, or a file that failed is begun anew. */
const TEND_MS = 5000;
const AGAIN_MS = 1000;
/** Invalidations that wait for the disk, at most. */
const MAX_TELLING = 1000;

type DiskTierSettings = {
  directory: string;
  bytes: number;
  /** The file has entries of an earlier run. */
  onRestored: () => void;
  /** The file was begun anew. */
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
  readonly #first: Promise<Told>;
  readonly #tending: NodeJS.Timeout;
  #size: FileSize = { entries: 0, bytes: 0, room: 0 };
  #isGap = false;
  /** The last gap that was marked; the marking of this gap, and a write's wait for it, which is bounded. */
  #gap = 0;
  #marking: Promise<void> | undefined;
  #markWait: Promise<void> | undefined;
  readonly #unwritten = new Unwritten();
  #collecting: NodeJS.Timeout | undefined;
  /** When the invalidations were sent that the file has not had yet; and whether it has missed any. */
  readonly #tellingSince: number[] = [];
  #hasMissed = false;
  #isEnding = false;
  /** The last entries could not be stored. That others can be read does not end the trouble. */
  #cannotStore = false;
  /** Answers that take too long, and have not come yet. */
  #late = 0;
  #isClosed = false;

  constructor(settings: DiskTierSettings) {
    this.#settings = settings;
    const { directory, bytes } = settings;
    this.#known = new KnownKeys(bytes);
    const data: ThreadData = { directory, bytes, known: this.#known.shared };
    const module = new URL(`entriesThread${extname(import.meta.url)}`, import.meta.url);
    this.#thread = new StoringThread(startDiskThread(module, data), (error) => {
      if (!this.#isClosed) this.#lost(error);
    });
    this.#thread.worker.unref();
    this.#first = this.#nextAnswer();
    this.#inTime(this.#first, PATIENCE_AT_START_MS).catch((error: Error) => this.#lost(error));
    const tend = () => void this.#tend().catch((error: Error) => this.#lost(error));
    this.#tending = setInterval(tend, TEND_MS).unref();
  }

  /** Resolves when the file is open, or not in time. */
  async opened(): Promise<void> {
    await withTimeout(this.#first, PATIENCE_MS).catch(() => undefined);
  }

  /** The file as it was a few seconds ago. */
  size(): FileSize {
    return this.#size;
  }

  mark(): undefined {
    return undefined;
  }

  mayHave(key: string): boolean {
    return this.#known.mayHave(numberOf(key));
  }

  async get(key: string): Promise<Entry | undefined> {
    const { count } = this.#settings;
    if (!this.#mayRead()) return undefined;
    // The file has an older one.
    if (this.#unwritten.has(key)) this.#flush();
    try {
      const patience = this.#known.areComplete ? PATIENCE_MS : PATIENCE_AT_START_MS;
      const told = await this.#inTime(this.#ask({ get: key }), patience);
      const entry = told === "late" ? undefined : await readFound(told.found);
      count("get", told === "late" ? "late" : entry ? "hit" : "miss");
      return this.#isGap ? undefined : entry;
    } catch (error) {
      count("get", "failed");
      this.#lost(error as Error);
      return undefined;
    }
  }

  #mayRead(): boolean {
    return this.#late === 0 && !this.#isGap && !this.#isClosed;
  }

  set(key: string, entry: Entry): void {
    const names = JSON.stringify([...entry.groups, `@${entry.endpoint}`, "*"]);
    const { head, body } = toStored(entry);
    if (!this.#unwritten.hasRoom(body)) this.#flush();
    if (!this.#unwritten.add({ key, names, head }, body)) return this.#settings.count("put", "dropped");
    this.#collecting ??= setTimeout(() => this.#flush(), COLLECT_MS).unref();
  }

  /** Sends the collected entries to the thread. */
  #flush(): void {
    clearTimeout(this.#collecting);
    this.#collecting = undefined;
    const taken = this.#unwritten.take();
    if (taken === undefined) return;
    const { rows, block } = taken;
    this.#inTime(this.#write(rows, block), PATIENCE_MS).catch((error: Error) => this.#lost(error));
  }

  async #write(rows: readonly EntryRow[], block: SharedArrayBuffer): Promise<Told> {
    let result = "failed";
    try {
      const told = await this.#ask({ put: rows, block });
      result = told.stored === 0 ? "dropped" : "stored";
      return told;
    } finally {
      this.#cannotStore ||= result === "failed";
      this.#unwritten.release(block);
      for (let i = 0; i < rows.length; i++) this.#settings.count("put", result);
    }
  }

  async invalidate(invalidation: Invalidation): Promise<boolean> {
    // The entries before it go to the file before it.
    this.#flush();
    const telling = this.#tell(invalidation);
    const [first = 0] = this.#tellingSince;
    const left = this.#isGap ? 0 : Math.max(0, first + PATIENCE_MS - performance.now());
    const isTold = (await withTimeout(telling, left)) === true;
    this.#settings.count("invalidate", isTold ? "done" : "late");
    if (!isTold) await this.#beginGap();
    return isTold;
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
      if (this.#isGap && this.#tellingSince.length === 0) this.#endGap().catch((error: Error) => this.#lost(error));
    }
  }

  /** Resolves when the mark is on the disk, or not in time. */
  async #beginGap(): Promise<void> {
    if (!this.#isGap) {
      this.#isGap = true;
      this.#lost(new Error("it has not taken in time what a write has changed"));
      this.#mark();
      if (this.#tellingSince.length === 0) this.#endGap().catch((error: Error) => this.#lost(error));
    }
    await this.#markWait;
  }

  #mark(): void {
    this.#marking = this.#writeMark();
    this.#markWait = waitBriefly(this.#marking);
  }

  async #writeMark(): Promise<void> {
    try {
      this.#gap = await markGap(marksIn(this.#settings.directory));
    } catch (error) {
      this.#lost(error as Error);
    }
  }

  /** The file has had all invalidations, or is begun anew if it has missed any. */
  async #endGap(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    await this.#marking;
    while (this.#hasMissed && !this.#isClosed) {
      this.#hasMissed = false;
      try {
        await this.#ask({ begin: "it has missed what a write has changed" });
        await this.#marking;
      } catch (error) {
        this.#lost(error as Error);
        this.#hasMissed = true;
        await sleep(AGAIN_MS, undefined, { ref: false });
      }
    }
    this.#isEnding = false;
    // The last of them calls this again.
    if (this.#tellingSince.length > 0 || this.#isClosed) return;
    // What comes from now on stands behind this message, and begins another gap if it is late.
    this.#isGap = false;
    await this.#ask({ closeGap: this.#gap });
    this.#up();
  }

  async #tend(): Promise<void> {
    for (let isMore = true; isMore && this.#late === 0 && !this.#isClosed;) {
      const told = await this.#inTime(this.#ask({ tend: true }), PATIENCE_AT_START_MS);
      isMore = told !== "late" && told.isMore === true;
    }
  }

  /** Asks the thread. Rejects if it fails. */
  #ask(ask: Ask): Promise<Told> {
    if (this.#thread.failure !== undefined) return Promise.reject(this.#thread.failure);
    this.#thread.send(ask);
    return this.#nextAnswer();
  }

  async #nextAnswer(): Promise<Told> {
    const told = (await this.#thread.nextMessage()) as Told;
    const { size, opened } = told;
    if (size) {
      this.#size = size;
      this.#cannotStore = false;
    }
    if (opened) {
      if (opened.emptied !== undefined) this.#settings.onEmptied(opened.emptied);
      if (opened.hasEntries) this.#settings.onRestored();
      // The marks of a file that was begun anew are new as well.
      if (this.#isGap) this.#mark();
      await this.#markWait;
    }
    return told;
  }

  /** An answer, or "late". While one is late, the thread is asked nothing that can be left. */
  async #inTime(asking: Promise<Told>, patience: number): Promise<Told | "late"> {
    const told = await withTimeout(asking, patience);
    if (told !== "late") {
      this.#up();
      return told;
    }
    this.#late++;
    this.#lost(new Error(`it did not answer within ${patience} ms`));
    endWithoutThread(asking);
    const isOver = () => {
      this.#late--;
      this.#up();
    };
    asking.then(isOver, isOver);
    return "late";
  }

  #up(): void {
    if (this.#late === 0 && !this.#isGap && !this.#cannotStore) this.#settings.report(true);
  }

  #lost({ message }: Error): void {
    this.#settings.report(false, message);
  }

  /** Resolves when the last entries are on the disk, or not in time. */
  async close(): Promise<void> {
    clearInterval(this.#tending);
    this.#flush();
    this.#isClosed = true;
    const closing = this.#thread.close();
    const closed = await withTimeout(closing, PATIENCE_MS).catch((error: Error) => this.#lost(error));
    if (closed === "late") endWithoutThread(closing);
  }
}

const waitBriefly = async (marking: Promise<void>): Promise<void> => {
  if ((await withTimeout(marking, MARK_MS)) === "late") endWithoutThread(marking);
};

/** The entry as it may be used now, by what has come since it was stored. */
const readFound = async (found: FoundRow | undefined): Promise<Entry | undefined> => {
  const entry = found && (await fromStored(found.head, Buffer.from(found.body)));
  if (found === undefined || entry === undefined) return undefined;
  for (const { kind, at } of found.since) {
    if (kind === "list" && entry.status !== 200) return undefined;
    if (!makeStale(entry, monotonic.fromStored(at) ?? monotonic.now(), kind !== "stale")) return undefined;
  }
  return found.isOfEarlierRun ? afterRestart(entry) : entry;
};
