import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { databaseIn, isBusy, isDamaged, makeDataDirectory, refusal, unreadable } from "./dataDirectory.ts";

/** A database with another number in `user_version` was written by another version. */
const FORMAT = 1;

/**
 * Opens the database of a directory that only one process may use at a time. The operating system frees the lock when
 * the process ends, however it ends. A file with a process id would go stale after a crash.
 *
 * @throws With `DATA_DIR`, the file and the reason, if it cannot be used.
 */
export const sqliteDisk = (directory: string) => {
  const file = databaseIn(directory);
  let database: DatabaseSync | undefined;
  try {
    makeDataDirectory(directory);
    // For this user only; SQLite gives its other files the same permissions.
    closeSync(openSync(file, "a", 0o600));
    database = new DatabaseSync(file);
    // In this mode SQLite holds the lock of the first transaction.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE; COMMIT");
    prepare(database, directory);
    return entriesOf(database);
  } catch (error) {
    database?.close();
    const { errcode, message } = error as Error & { errcode?: number };
    if (isBusy(error)) {
      const why = `another process uses it and holds ${file}; allowed is one gateway a directory`;
      throw refusal(directory, Object.assign(new Error(why), { errcode }));
    }
    throw refusal(directory, isDamaged(error) ? unreadable(directory, message) : (error as Error));
  }
};

/**
 * Makes the table in a new database.
 *
 * @throws If another version has written it.
 */
const prepare = (database: DatabaseSync, directory: string): void => {
  const format = database.prepare("PRAGMA user_version").get()?.["user_version"];
  // One write to the disk for each change.
  database.exec("PRAGMA journal_mode = WAL");
  if (format === FORMAT) return;
  if (format !== 0)
    throw unreadable(directory, `another version's format (${String(format)}); this one reads ${FORMAT}`);
  database.exec(
    `BEGIN; CREATE TABLE entries (feature TEXT, key TEXT, value TEXT NOT NULL, PRIMARY KEY (feature, key)) STRICT; PRAGMA user_version = ${FORMAT}; COMMIT`,
  );
};

/** The stored texts, and their changes. Reads all entries, so that a damaged page is found. */
const entriesOf = (database: DatabaseSync) => {
  const stored = new Map<string, Map<string, string>>();
  for (const row of database.prepare("SELECT feature, key, value FROM entries").iterate()) {
    const [feature, key, value] = [String(row["feature"]), String(row["key"]), String(row["value"])];
    stored.set(feature, (stored.get(feature) ?? new Map<string, string>()).set(key, value));
  }
  const put = database.prepare("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM entries WHERE feature = ? AND key = ?");
  return {
    /** The texts that were stored at the start, by feature and key. */
    stored,
    /**
     * Stores a text, or deletes it. Returns when that is on the disk.
     *
     * @throws If it cannot be written.
     */
    write: (feature: string, key: string, text: string | undefined): void =>
      void (text === undefined ? remove.run(feature, key) : put.run(feature, key, text)),
    close: (): void => database.close(),
  };
};
