import { once } from "node:events";
import { dataDirectoryError } from "./dataDirectory.ts";
import { type DiskPatience, firstAnswer, diskSilent, startDiskThread } from "./diskThread.ts";

/** Tries to write a file to the directory, and leaves nothing behind. Returns the reason if that fails. */
export const checkDirectory = async (directory: string, patience: DiskPatience): Promise<string | undefined> => {
  const thread = startDiskThread("checkThread", import.meta.url, directory);
  const answer = await firstAnswer(once(thread, "message") as Promise<[string | undefined]>, thread, patience);
  return answer === "late" ? dataDirectoryError(directory, diskSilent()) : answer[0];
};
