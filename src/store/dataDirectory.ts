import { constants } from "node:fs";
import { access, mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { lockDirectory } from "./directoryLock.ts";
import { syncDirectory } from "./syncDirectory.ts";

/** Makes DATA_DIR where it is not there and holds it by a lock of this name; rejects where it cannot be used. Gives back how to let go of it. */
export const holdDirectory = async (directory: string, lock: string): Promise<() => void> => {
  try {
    await makeDirectory(directory);
    return lockDirectory(directory, lock);
  } catch (error) {
    throw unusable(directory, error as Error);
  }
};

export const unusable = (directory: string, error: Error): Error =>
  new Error(`DATA_DIR: ${directory} cannot be used: ${error.message}`, { cause: error });

/** Makes it where it is not there, for this user alone; throws where it cannot be written to. */
const makeDirectory = async (directory: string): Promise<void> => {
  const whole = resolve(directory);
  const first = await mkdir(whole, { recursive: true, mode: 0o700 });
  // A directory is on the disk when the one that it stands in is.
  const last = first === undefined ? whole : dirname(first);
  for (let at = whole; at !== last; at = dirname(at)) await syncDirectory(dirname(at));
  await access(whole, constants.R_OK | constants.W_OK | constants.X_OK);
};
