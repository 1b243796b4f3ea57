import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { withTimeout } from "../concurrency/withTimeout.ts";

/** Bytes of a file system: those that the gateway may still write, and all. */
export type DiskSpace = { free: number; size: number };

/** Milliseconds that a result holds, and that a file system may take to give one. */
const HOLD_MS = 30_000;
const TIMEOUT_MS = 1000;

/** The space, or a short reason without a path why it is not known. */
type Looked = DiskSpace | { why: string };

/** A directory that does not exist yet counts as the one that it will be made in. */
const look = async (directory: string): Promise<Looked> => {
  try {
    const { bavail, blocks, bsize } = await statfs(directory);
    return { free: bavail * bsize, size: blocks * bsize };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const parent = dirname(directory);
    return code === "ENOENT" && parent !== directory ? look(parent) : { why: `its space is not known (${code})` };
  }
};

/**
 * Looks up the space of the file system that a directory is on, at most twice a minute and once at a time. One that does not answer within a
 * second has no known space.
 */
export const openDiskSpace = (directory: string): (() => Promise<Looked>) => {
  let pending: Promise<Looked> | undefined;
  return async () => {
    pending ??= look(resolve(directory)).finally(() => setTimeout(() => (pending = undefined), HOLD_MS).unref());
    const found = await withTimeout(pending, TIMEOUT_MS);
    return found === "late" ? { why: `no answer within ${TIMEOUT_MS} ms` } : found;
  };
};
