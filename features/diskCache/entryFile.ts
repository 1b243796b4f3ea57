import { closeSync, existsSync, openSync, renameSync, rmSync, type StatsFs, statfsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { makeDataDirectory } from "../../libraries/stores/dataDirectory.ts";
import type { Invalidation } from "../../src/gateway/index.ts";
import { monotonic } from "../../src/operation/limits/monotonic.ts";
import { type KnownKeys, numberOf } from "./knownKeys.ts";
import type { EntryRow } from "./rows.ts";
import { beginMarks, lackBy, markInvalidated, marksOf } from "./marks.ts";

/**
 * What an invalidation makes of the entries with a name. `list`: a list stays for failures of legacy, as with
 * `failure`; all else is deleted. `stale`: see `soft` of `Invalidation`.
 */
export type Kind = "deleted" | "list" | "failure" | "stale";

/** An entry that was found, and what invalidations since it was stored make of it. `at`: ms since the epoch. */
export type FoundRow = {
  head: string;
  body: Uint8Array;
  isOfEarlierRun: boolean;
  since: readonly { kind: Kind; at: number }[];
};

/** The size of the file: its entries, its bytes in use, and whether the disk has no room for more. */
export type FileSize = { entries: number; bytes: number; isShort: boolean };

/** The entries in the file cannot be used. `isKept`: the file is set aside, not deleted. */
export class Unusable extends Error {
  readonly isKept: boolean;

  constructor(message: string, isKept = false) {
    super(message);
    this.isKept = isKept;
  }
}

/** A database with another number in `user_version` was written by another version. */
const FORMAT = 1;
const PAGE_BYTES = 8192;
/** Bytes of the log that SQLite writes beside the file, at most. */
const LOG_BYTES = 8 * 1024 ** 2;
/** Bytes of entries that come together. */
const BLOCK_BYTES = 1024 ** 2;
/** Entries that are evicted at a time, and how many times in one step. */
const BATCH = 64;
const MAX_BATCHES = 64;
/** Bytes of pages that are given back to the disk at a time. */
const GIVEN_BACK = 8 * 1024 ** 2;
/** The share of the disk, and the bytes, that stay free. */
const FREE_SHARE = 0.1;
const FREE_BYTES = 1024 ** 3;
/** Milliseconds by which the clock may go back. */
const SKEW = 60_000;
/** Invalidations that are remembered. Beyond it, the older half counts for all entries from before. */
const MAX_INVALIDATIONS = 100_000;
/** Bytes of entries that were read: each is written again by the next `tend`. */
const MAX_TOUCHED = 4 * 1024 ** 2;
/** Numbers that are read at a time. */
const PIECE = 20_000;

const tables = `
  CREATE TABLE entries (id INTEGER PRIMARY KEY, number INTEGER NOT NULL UNIQUE, key TEXT NOT NULL,
    stored INTEGER NOT NULL, names TEXT NOT NULL, head TEXT NOT NULL, body BLOB NOT NULL) STRICT;
  CREATE TABLE invalidations (name TEXT, kind TEXT, sequence INTEGER NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (name, kind)) STRICT, WITHOUT ROWID;
  CREATE INDEX invalidations_in_order ON invalidations (sequence);
  CREATE TABLE state (clock INTEGER NOT NULL, invalidated INTEGER NOT NULL) STRICT;
  INSERT INTO state VALUES (0, 0);
  PRAGMA user_version = ${FORMAT};`;

/** The names under which an invalidation is remembered. */
const namesOf = ({
  groups = [],
  lists = [],
  endpoint,
  all,
  soft = false,
  hold = 0,
}: Invalidation): [string, Kind][] => {
  const softly = hold > 0 ? "failure" : "stale";
  const whole = [...(endpoint === undefined ? [] : [`@${endpoint}`]), ...(all ? ["*"] : [])];
  return [
    ...groups.map((name): [string, Kind] => [name, soft ? softly : lists.includes(name) ? "list" : "deleted"]),
    ...whole.map((name): [string, Kind] => [name, soft ? softly : "deleted"]),
  ];
};

/** The file of entries in a directory. */
export const entryFileIn = (directory: string): string => join(directory, "catalog-gateway-cache.sqlite");

/** The file of entries in `DATA_DIR`: an SQLite database that only one process may use at a time. */
export class EntryFile {
  readonly #marks: string;
  readonly #directory: string;
  readonly #bytes: number;
  readonly #known: KnownKeys;
  readonly #statfs: typeof statfsSync;
  readonly #database: DatabaseSync;
  readonly #statements;
  /** Entries and invalidations are numbered in one order. Entries up to `#firstOwn` are of earlier runs. */
  #sequence: number;
  readonly #firstOwn: number;
  /** The lowest id: entries have their ids in the order in which they were used. */
  #lowest: number;
  /** The old entries that were read since the last `tend`, and their bytes. */
  readonly #touched = new Set<number>();
  #touchedBytes = 0;
  #clock: number;
  #entries = 0;

  /** @throws `Unusable`, or an error of SQLite or the system. */
  constructor(directory: string, bytes: number, known: KnownKeys, statfs: typeof statfsSync = statfsSync) {
    this.#directory = directory;
    this.#bytes = bytes;
    this.#known = known;
    this.#statfs = statfs;
    known.forget();
    const file = entryFileIn(directory);
    this.#marks = marksOf(file);
    makeDataDirectory(directory);
    // For this user only; SQLite gives its other files the same permissions.
    closeSync(openSync(file, "a", 0o600));
    this.#database = new DatabaseSync(file);
    try {
      this.#prepare();
      this.#statements = this.#prepareStatements();
      const { clock, invalidated } = this.#one("SELECT clock, invalidated FROM state");
      const { lowest, highest } = this.#one(
        "SELECT coalesce(min(id), 0) AS lowest, coalesce(max(id), 0) AS highest FROM entries",
      );
      this.#clock = clock as number;
      this.#lowest = lowest as number;
      this.#sequence = Math.max(highest as number, invalidated as number);
      this.#firstOwn = this.#sequence;
      this.#checkClock();
      const lack = lackBy(this.#marks, invalidated as number);
      if (lack !== undefined) throw new Unusable(lack);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  #prepare(): void {
    // The mode of locking comes before the first access: SQLite then maps no file (`-shm`) into memory.
    this.#database.exec(`PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = ${PAGE_BYTES};
      PRAGMA auto_vacuum = INCREMENTAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = ${LOG_BYTES};
      BEGIN EXCLUSIVE; COMMIT`);
    const { user_version: format } = this.#one("PRAGMA user_version");
    if (format !== 0 && format !== FORMAT) throw new Unusable(`another version's format (${String(format)})`, true);
    this.#database.exec("PRAGMA journal_mode = WAL");
    if (format === FORMAT) return;
    beginMarks(this.#marks);
    this.#database.exec(`BEGIN; ${tables} COMMIT`);
  }

  #prepareStatements() {
    const prepare = (sql: string) => this.#database.prepare(sql);
    return {
      pages: prepare("PRAGMA page_count"),
      freePages: prepare("PRAGMA freelist_count"),
      numbers: prepare(
        `SELECT json_group_array(number) AS numbers FROM (SELECT number FROM entries WHERE number > ? ORDER BY number LIMIT ${PIECE})`,
      ),
      find: prepare("SELECT id, key, stored, names, head, body FROM entries WHERE number = ?"),
      since: prepare(
        "SELECT kind, min(at) AS at FROM invalidations WHERE name IN (SELECT value FROM json_each(?)) AND sequence > ? GROUP BY kind",
      ),
      insert: prepare("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)"),
      remove: prepare("DELETE FROM entries WHERE number = ?"),
      oldest: prepare("SELECT id, number, length(body) AS length FROM entries ORDER BY id LIMIT ?"),
      removeUpTo: prepare("DELETE FROM entries WHERE id <= ?"),
      touch: prepare("UPDATE entries SET id = ? WHERE id = ?"),
      invalidate: prepare(
        "INSERT INTO invalidations VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET (sequence, at) = (excluded.sequence, excluded.at) WHERE excluded.sequence > sequence",
      ),
      note: prepare("UPDATE state SET clock = ?, invalidated = coalesce(?, invalidated)"),
    };
  }

  #one(sql: string): Record<string, unknown> {
    return this.#database.prepare(sql).get() as Record<string, unknown>;
  }

  /** True if it has entries of an earlier run. */
  hasEntries(): boolean {
    return this.#lowest > 0;
  }

  /** Reads the numbers of all entries: 0.2 s for a million. Before that, any entry may be in the file. */
  countKeys(): void {
    this.#known.forget();
    this.#entries = 0;
    for (let numbers = this.#numbersAfter(-1); numbers.length > 0; numbers = this.#numbersAfter(numbers.at(-1))) {
      for (const number of numbers) this.#known.add(number);
      this.#entries += numbers.length;
    }
    this.#known.complete();
  }

  /** The next numbers. One JSON text takes an eighth of the time of as many rows. */
  #numbersAfter(last: number | undefined): number[] {
    return JSON.parse(this.#statements.numbers.get(last ?? null)?.["numbers"] as string) as number[];
  }

  size(): FileSize {
    const [used, room] = [this.#used(), this.#room()];
    return {
      entries: this.#entries,
      bytes: used,
      isShort: room < this.#bytes - LOG_BYTES && used + BLOCK_BYTES > room,
    };
  }

  /** Bytes of the file, and of its pages that are in use. */
  #length(): number {
    return (this.#statements.pages.get()?.["page_count"] as number) * PAGE_BYTES;
  }

  #used(): number {
    return this.#length() - (this.#statements.freePages.get()?.["freelist_count"] as number) * PAGE_BYTES;
  }

  /** The bytes that the file may have: less than its bound where the disk is short of room. */
  #room(): number {
    const room = this.#length() + freeRoom(this.#statfs(this.#directory));
    return Math.max(0, Math.min(this.#bytes - LOG_BYTES, room));
  }

  /** If the clock was set back, the ages of the entries are unknown. */
  #checkClock(): void {
    const now = monotonic.toStored(monotonic.now());
    if (now < this.#clock - SKEW) throw new Unusable("the clock was set back");
    this.#clock = Math.max(this.#clock, now);
  }

  /** Finds an entry that no invalidation has deleted. */
  get(key: string): FoundRow | undefined {
    this.#checkClock();
    const row = this.#statements.find.get(numberOf(key));
    if (row === undefined || row["key"] !== key) return undefined;
    const stored = row["stored"] as number;
    const since = this.#statements.since.all(row["names"] as string, stored) as { kind: Kind; at: number }[];
    if (since.some(({ kind }) => kind === "deleted")) return undefined;
    const [id, head, body] = [row["id"] as number, row["head"] as string, row["body"] as Uint8Array];
    const isOld = id < (this.#lowest + this.#sequence) / 2;
    if (isOld && this.#touchedBytes + body.length <= MAX_TOUCHED) {
      this.#touched.add(id);
      this.#touchedBytes += body.length;
    }
    return { head, body, isOfEarlierRun: stored <= this.#firstOwn, since };
  }

  /** Stores entries, in place of those with the same keys; the least recently used go. Returns how many are stored. */
  put(rows: readonly EntryRow[]): number {
    this.#checkClock();
    const latest = new Map(rows.map((row) => [numberOf(row.key), row]));
    const incoming = rows.reduce((sum, { body }) => sum + body.length + PAGE_BYTES, 0);
    return this.#transact((added, removed) => {
      for (const number of latest.keys()) this.#remove(number, removed);
      const room = this.#room();
      if (incoming > room) return 0;
      if (!this.#evictUntil(room - incoming, removed)) return 0;
      for (const [number, { key, names, head, body }] of latest) {
        const id = ++this.#sequence;
        this.#statements.insert.run(id, number, key, id, names, head, body);
        added.push(number);
      }
      return rows.length;
    });
  }

  #remove(number: number, removed: number[]): void {
    if (this.#known.mayHave(number) && this.#statements.remove.run(number).changes > 0) removed.push(number);
  }

  /** Deletes the least recently used entries until so many bytes are in use; false if it takes more than one step. */
  #evictUntil(most: number, removed: number[]): boolean {
    for (let i = 0; i < MAX_BATCHES && this.#used() > most; i++) {
      let excess = this.#used() - most;
      const oldest = this.#statements.oldest.all(BATCH) as { id: number; number: number; length: number }[];
      const evicted = oldest.filter(({ length }) => {
        const isEvicted = excess > 0;
        excess -= length;
        return isEvicted;
      });
      const last = evicted.at(-1);
      if (last === undefined) break;
      for (const { number } of evicted) removed.push(number);
      this.#statements.removeUpTo.run(last.id);
      this.#lowest = last.id;
    }
    return this.#used() <= most;
  }

  /** Returns when it is on the disk. */
  invalidate(invalidation: Invalidation): void {
    const now = monotonic.toStored(monotonic.now());
    // Also after a failure of the power.
    this.#database.exec("PRAGMA synchronous = FULL");
    this.#transact((_, removed) => {
      const sequence = ++this.#sequence;
      for (const key of invalidation.keys ?? []) this.#remove(numberOf(key), removed);
      for (const [name, kind] of namesOf(invalidation)) this.#statements.invalidate.run(name, kind, sequence, now);
      this.#joinOldest(now);
      this.#note(this.#sequence);
    });
    this.#database.exec("PRAGMA synchronous = NORMAL");
    markInvalidated(this.#marks, this.#sequence);
  }

  #joinOldest(now: number): void {
    const { count } = this.#one("SELECT count(*) AS count FROM invalidations");
    if ((count as number) <= MAX_INVALIDATIONS) return;
    const sql = `SELECT sequence FROM invalidations ORDER BY sequence LIMIT 1 OFFSET ${MAX_INVALIDATIONS / 2}`;
    const { sequence } = this.#one(sql) as { sequence: number };
    this.#database.prepare("DELETE FROM invalidations WHERE sequence <= ?").run(sequence);
    this.#statements.invalidate.run("*", "deleted", sequence, now);
  }

  #note(invalidated: SQLInputValue): void {
    this.#statements.note.run(this.#clock, invalidated);
  }

  /** Moves the entries that were read to the end, and gives room back to the disk; true if there is more to do. */
  tend(): boolean {
    this.#checkClock();
    const room = this.#room();
    const length = this.#length();
    this.#transact((_, removed) => {
      for (const id of this.#touched) this.#statements.touch.run(++this.#sequence, id);
      this.#touched.clear();
      this.#touchedBytes = 0;
      this.#evictUntil(room, removed);
    });
    if (length <= room) return false;
    this.#database.exec(`PRAGMA incremental_vacuum(${GIVEN_BACK / PAGE_BYTES}); PRAGMA wal_checkpoint(TRUNCATE)`);
    return this.#length() < length;
  }

  #transact<T>(work: (added: number[], removed: number[]) => T): T {
    const [added, removed]: [number[], number[]] = [[], []];
    this.#database.exec("BEGIN");
    try {
      const result = work(added, removed);
      this.#note(null);
      this.#database.exec("COMMIT");
      for (const number of removed) this.#known.remove(number);
      for (const number of added) this.#known.add(number);
      this.#entries += added.length - removed.length;
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }
}

/** The bytes of a disk that may still be taken; negative if it is short of room. */
export const freeRoom = ({ bavail, bsize, blocks }: StatsFs): number =>
  bavail * bsize - Math.max(FREE_SHARE * blocks * bsize, FREE_BYTES);

/** Deletes the file. `isKept`: renames it instead, so that operators can find out what was wrong with it. */
export const takeAway = (directory: string, isKept: boolean): void => {
  const file = entryFileIn(directory);
  for (const part of ["", "-wal"])
    if (isKept && existsSync(file + part)) renameSync(file + part, `${file}.set-aside${part}`);
    else rmSync(file + part, { force: true });
};
