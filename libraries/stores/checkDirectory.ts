import { once } from "node:events";
import { dataDirectoryError } from "./dataDirectory.ts";
import { type DiskPatience, firstAnswer, diskSilent, startDiskThread } from "./diskThread.ts";

/** Tries whether a file can be written to the directory, and leaves nothing behind; why it cannot. */
export const checkDirectory = async (directory: string, patience: DiskPatience): Promise<string | undefined> => {
  const thread = startDiskThread("checkThread", directory);
  const answer = await firstAnswer(once(thread, "message") as Promise<[string | undefined]>, thread, patience);
  return answer === "late" ? dataDirectoryError(directory, diskSilent()) : answer[0];
};
