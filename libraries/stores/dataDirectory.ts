import { accessSync, constants, existsSync, mkdirSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { temporary } from "../../src/operation/settings/temporary.ts";

/** Reasons by the codes of the system, and of SQLite: read-only, input or output, full, cannot open. */
const reasons: Record<string, string> = {
  EACCES: "this user may not write to it",
  EEXIST: "it is no directory",
  ENOENT: "no directory can be made there",
  ENOSPC: "its file system is full",
  ENOTDIR: "a part of its path is no directory",
  EPERM: "this user may not write to it",
  EROFS: "its file system is read-only",
  8: "its files are read-only",
  10: "its file system fails",
  13: "its file system is full",
  14: "its files cannot be opened",
};

/** The codes of failures that may pass: the file system fails or is full, another process has locked the file. */
const passing: ReadonlySet<unknown> = new Set(["EIO", "ENOSPC", 5, 10, 13]);

type StoreError = Error & { code?: string; errcode?: number };

// SQLite refines its codes in the upper bits.
const codeOf = ({ code, errcode }: StoreError) => (errcode === undefined ? code : errcode & 0xff);

/** True if another process has locked the database. */
export const isBusy = (error: unknown): boolean => codeOf(error as StoreError) === 5;

/** True if the file is malformed, or no database. */
export const isDamaged = (error: unknown): boolean => [11, 26].includes(codeOf(error as StoreError) as number);

/** The reason why a directory for `DATA_DIR` cannot be used, and the requirement. One line. */
export const dataDirectoryError = (directory: string, error: StoreError): string => {
  const reason = reasons[codeOf(error) ?? ""];
  const subject = `${directory} cannot be used: `;
  if (reason === undefined) return subject + error.message;
  return `${subject}${reason} (${error.message}); needed is a directory with free space that this user may write to`;
};

/** The file of the database in a directory. */
export const databaseIn = (directory: string): string => join(directory, "catalog-gateway.sqlite");

/** The error with which the start is refused: a directory for `DATA_DIR` cannot be used. */
export const refusal = (directory: string, why: StoreError): Error => {
  const error = new Error(`DATA_DIR: ${dataDirectoryError(directory, why)}`, { cause: why });
  return passing.has(codeOf(why)) ? temporary(error) : error;
};

/** The reason if the database, or a value in it, cannot be read. */
export const unreadable = (directory: string, why: string): Error =>
  new Error(
    `${databaseIn(directory)}: ${why}; it is left as it is: repair it, or move it away to begin with nothing set`,
  );

/**
 * Makes the directory, for this user only, unless it exists.
 *
 * @throws The system's error if it cannot be made or written to.
 */
export const makeDataDirectory = (directory: string): void => {
  const missing: string[] = [];
  // Not by Node's recursive mkdir: if a parent exists but takes no children, as /proc, that tries forever.
  for (let at = resolve(directory); !existsSync(at); at = dirname(at)) missing.unshift(at);
  // Another process may have made it meanwhile.
  for (const at of missing) if (!existsSync(at)) mkdirSync(at, { mode: 0o700 });
  if (!statSync(directory).isDirectory()) throw Object.assign(new Error("EEXIST: it is a file"), { code: "EEXIST" });
  accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
};

/** Tries to write a file to the directory, and leaves nothing behind. Returns the reason if that fails. */
export const dataDirectoryTrouble = (directory: string): string | undefined => {
  const isNew = !existsSync(directory);
  const file = join(directory, `.check-${process.pid}`);
  try {
    makeDataDirectory(directory);
    writeFileSync(file, "1", { flush: true });
    rmSync(file);
    if (isNew) rmdirSync(directory);
    return undefined;
  } catch (error) {
    return dataDirectoryError(directory, error as Error);
  }
};
