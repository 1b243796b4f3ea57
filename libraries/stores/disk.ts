import { temporary, withTimeout } from "../../src/operation/index.ts";
import { refusal, unreadable } from "./dataDirectory.ts";
import { type DiskPatience, endWithoutThread, firstAnswer, diskSilent, startDiskThread } from "./diskThread.ts";

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
  const thread = startDiskThread("sqliteThread", directory);
  /** The calls that wait for the thread's messages, which come in order. */
  const pending: PromiseWithResolvers<unknown>[] = [];
  const exit = Promise.withResolvers<void>();
  exit.promise.catch(() => undefined);
  let failure: Error | undefined;
  let isOpen = false;
  /** The number of waits that took too long, and are not over. */
  let late = 0;

  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  const send = (message: unknown): void => thread.postMessage(message);
  const nextMessage = (): Promise<unknown> => {
    const message = Promise.withResolvers<unknown>();
    pending.push(message);
    return message.promise;
  };
  const fail = (error: Error): void => {
    if (failure !== undefined) return;
    failure = error;
    for (const { reject } of pending.splice(0)) reject(error);
    if (isOpen) onEnded(error);
  };
  thread.on("message", (message: unknown) => {
    const waiting = pending.shift();
    if (message instanceof Error) waiting?.reject(message);
    else waiting?.resolve(message);
  });
  thread.on("error", (error: Error) => {
    fail(error);
    exit.reject(error);
  });
  thread.on("exit", () => {
    fail(new Error("the thread that writes has ended; restart the gateway"));
    exit.resolve();
  });
  const put = async (feature: string, key: string, text: string | undefined): Promise<void> => {
    send([feature, key, text]);
    await nextMessage();
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

  const answer = await firstAnswer(nextMessage(), thread, patience);
  if (answer === "late") {
    // The thread ends if the disk answers after all.
    send("close");
    throw temporary(refusal(directory, diskSilent()));
  }
  const texts = answer as Map<string, Map<string, string>>;
  isOpen = true;
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
      if (failure !== undefined) throw failure;
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
      send("close");
      thread.unref();
      if (!(await isInTime(exit.promise))) throw hangs();
    },
  };
};
