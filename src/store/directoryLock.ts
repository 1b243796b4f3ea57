import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** The errcode of SQLITE_BUSY. */
const BUSY = 5;

/**
 * Holds a directory for this process, by a file of this name in it; throws where another one holds it. Gives back how to let go of it.
 *
 * Node has no flock, and a file with a pid in it lies after a crash and between containers, where pids mean nothing. SQLite locks its file
 * by the operating system, which lets go of it when the process ends, however it ends: no lock is ever stale. The file stays empty.
 */
export const lockDirectory = (directory: string, name: string): (() => void) => {
  const file = join(directory, name);
  const database = new DatabaseSync(file);
  try {
    // Nothing is ever written that would have to be rolled back: no file beside this one.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode !== BUSY) throw error;
    throw new Error(`another process uses it and holds ${file}; allowed is one gateway a directory`, { cause: error });
  }
  return () => database.close();
};
