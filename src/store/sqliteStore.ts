import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseJson } from "../rules/parseJson.ts";
import { dataDirectoryError, makeDataDirectory } from "./dataDirectory.ts";
import { type Changes, type KeyedStore, type KeyedStoreSettings, readValue } from "./keyedStore.ts";
import { localStore } from "./localStore.ts";

/** What a store in a directory is opened with. */
export type SqliteStoreSettings<T> = KeyedStoreSettings<T> & {
  directory: string;
  /** Milliseconds from a `save` until it is written. */
  delay?: number;
};

/** A database with another number in `user_version` was written by another version. */
const FORMAT = 1;
/** SQLite's codes for: another process has locked the file, it is malformed, it is not a database. */
const BUSY = 5;
const MALFORMED: ReadonlySet<unknown> = new Set([11, 26]);

const ADVICE = "it is left as it is: repair it, or move it away to begin with nothing set";

/**
 * Opens the values in `<name>.sqlite`, in a directory that one process uses at a time. Rejects with `DATA_DIR` and the reason if the directory
 * cannot be used, or if values that cannot be found out again are not readable.
 */
export const sqliteStore = async <T>(settings: SqliteStoreSettings<T>): Promise<KeyedStore<T>> => {
  const { directory, name, scope = "", isRebuildable, onEvent } = settings;
  const file = join(directory, `${name}.sqlite`);
  const open = () => {
    const database = openExclusively(file);
    try {
      prepare(database);
      const { values, problems } = read(database, settings);
      const why = problems.join("; ");
      if (why !== "" && !isRebuildable) throw new Error(`${file} is not what was written here: ${why}; ${ADVICE}`);
      if (why !== "") onEvent("unreadable", { file, why });
      return { database, values };
    } catch (error) {
      database.close();
      throw error;
    }
  };
  const openOrReplace = () => {
    try {
      return open();
    } catch (error) {
      const { errcode, message } = error as Error & { errcode?: number };
      if (!MALFORMED.has(errcode)) throw error;
      if (!isRebuildable) throw new Error(`${file}: ${message}; ${ADVICE}`, { cause: error });
      onEvent("unreadable", { file, why: message });
      for (const suffix of ["", "-wal"]) rmSync(file + suffix, { force: true });
      return open();
    }
  };
  try {
    makeDataDirectory(directory);
    const { database, values } = openOrReplace();
    return localStore({
      ...settings,
      kind: "directory",
      values,
      file,
      write: (changes) => write(database, scope, changes),
      release: () => database.close(),
    });
  } catch (error) {
    throw new Error(dataDirectoryError(directory, error as Error), { cause: error });
  }
};

/**
 * A database that this process has alone until it closes it; throws if another process has it. The operating system frees the lock when a
 * process ends, however it ends. A file with a process id in it would go stale after a crash.
 */
const openExclusively = (file: string): DatabaseSync => {
  // For this user alone; SQLite gives its other files the same permissions.
  closeSync(openSync(file, "a", 0o600));
  const database = new DatabaseSync(file);
  try {
    // In this mode the lock of the first transaction is kept.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE; COMMIT");
    return database;
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== BUSY) throw error;
    throw new Error(`another process uses it and holds ${file}; allowed is one gateway a directory`, { cause: error });
  }
};

/** Makes the table in a new database; throws if another version has written it. */
const prepare = (database: DatabaseSync): void => {
  const format = database.prepare("PRAGMA user_version").get()?.["user_version"];
  // One write to the disk for each transaction.
  database.exec("PRAGMA journal_mode = WAL");
  if (format === FORMAT) return;
  if (format !== 0)
    throw new Error(`another version's format (${String(format)}); this one reads ${FORMAT}; ${ADVICE}`);
  transact(database, () =>
    database.exec(
      `CREATE TABLE records (scope TEXT, key TEXT, value TEXT NOT NULL, PRIMARY KEY (scope, key)); PRAGMA user_version = ${FORMAT}`,
    ),
  );
};

/** The values of this scope, and up to five reasons why others are not among them. Values of another scope are deleted. */
const read = <T>(database: DatabaseSync, settings: KeyedStoreSettings<T>) => {
  const { scope = "" } = settings;
  const values = new Map<string, T>();
  const problems: string[] = [];
  if (database.prepare("DELETE FROM records WHERE scope <> ?").run(scope).changes > 0)
    problems.push("it is of another legacy");
  for (const row of database.prepare("SELECT key, value FROM records WHERE scope = ?").iterate(scope)) {
    const [key, text] = [String(row["key"]), String(row["value"])];
    const result = readValue(settings, key, parseJson(text));
    if (result.ok) values.set(key, result.value);
    else if (problems.length < 5) problems.push(result.why);
  }
  return { values, problems };
};

const write = <T>(database: DatabaseSync, scope: string, changes: Changes<T>): void =>
  transact(database, () => put(database, scope, changes));

const put = <T>(database: DatabaseSync, scope: string, changes: Changes<T>): void => {
  const insert = database.prepare("INSERT OR REPLACE INTO records (scope, key, value) VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM records WHERE scope = ? AND key = ?");
  for (const [key, value] of changes) {
    if (value === undefined) remove.run(scope, key);
    else insert.run(scope, key, JSON.stringify(value));
  }
};

/** All of it or nothing; comes back when it is on the disk. */
const transact = (database: DatabaseSync, change: () => void): void => {
  database.exec("BEGIN");
  try {
    change();
    database.exec("COMMIT");
  } catch (error) {
    // After a full disk SQLite has rolled it back itself.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
};
