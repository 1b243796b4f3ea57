import { temporary, withTimeout } from "../../src/operation/index.ts";
import { refusal, unreadable } from "./dataDirectory.ts";
import { type DiskPatience, endWithoutThread, firstAnswer, diskSilent, startDiskThread } from "./diskThread.ts";
import { StoringThread } from "./storingThread.ts";

/** The disk with the values of stores that no other process uses. */
export type Disk = Awaited<ReturnType<typeof openDisk>>;

type DiskSettings = DiskPatience & {
  directory: string;
  /** Milliseconds that a write may take (default: a second). */
  timeout?: number | undefined;
  /** Called if the thread ends unexpectedly: nothing is written any more. */
  onEnded: (error: Error) => void;
};

/**
 * Opens the database of a directory in a separate thread.
 *
 * @throws With `DATA_DIR`, the file and the reason, if it cannot be used.
 */
export const openDisk = async ({ directory, timeout = 1000, onEnded, ...patience }: DiskSettings) => {
  let isOpen = false;
  /** The number of waits that took too long, and are not over. */
  let late = 0;
  const thread = new StoringThread(startDiskThread("sqliteThread", import.meta.url, directory), (error) => {
    if (isOpen) onEnded(error);
  });
  const answer = await firstAnswer(thread.nextMessage(), thread.worker, patience);
  if (answer === "late") {
    // The thread ends if the disk answers after all.
    thread.send("close");
    throw temporary(refusal(directory, diskSilent()));
  }
  const texts = answer as Map<string, Map<string, string>>;
  isOpen = true;

  const put = async (feature: string, key: string, text: string | undefined): Promise<void> => {
    thread.send([feature, key, text]);
    await thread.nextMessage();
    const stored = texts.get(feature) ?? new Map<string, string>();
    if (text === undefined) stored.delete(key);
    else texts.set(feature, stored.set(key, text));
  };
  const hangs = (): Error => new Error(`the disk did not answer within ${timeout} ms`);
  const isInTime = async (wait: Promise<unknown>): Promise<boolean> => {
    if ((await withTimeout(wait, timeout)) !== "late") return true;
    late++;
    endWithoutThread(wait);
    const isOver = () => late--;
    wait.then(isOver, isOver);
    return false;
  };

  return {
    /** The error that refuses the start if a text cannot be read. */
    refuse: (why: string) => refusal(directory, unreadable(directory, why)),
    /** The stored texts of a feature, by key. */
    textsOf: (feature: string): ReadonlyMap<string, string> => texts.get(feature) ?? new Map(),
    /**
     * Stores a text, or deletes it. Resolves when that is on the disk.
     *
     * @throws If it cannot be written, or takes too long. `onLate` is called if a late write is made after all; until
     * then every other write is refused.
     */
    async write(feature: string, key: string, text: string | undefined, onLate: () => void): Promise<void> {
      if (thread.failure !== undefined) throw thread.failure;
      if (late > 0) throw hangs();
      const written = put(feature, key, text);
      if (await isInTime(written)) return;
      written.then(onLate, () => undefined);
      throw hangs();
    },
    /**
     * Closes the database after the last write.
     *
     * @throws If that fails, or takes too long. The thread then does not keep the process alive.
     */
    async close(): Promise<void> {
      isOpen = false;
      if (!(await isInTime(thread.close()))) throw hangs();
    },
  };
};
