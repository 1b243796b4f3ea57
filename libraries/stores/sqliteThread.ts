import { parentPort, workerData } from "node:worker_threads";
import { sqliteDisk } from "./sqliteDisk.ts";

// The thread that holds the database. It sends the stored texts, then answers each write in order: with nothing, or
// with its error.
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
const send = (message: unknown): void => parentPort?.postMessage(message);
const { stored, write, close } = sqliteDisk(workerData as string);

const answer = (args: Parameters<typeof write>): unknown => {
  try {
    return write(...args);
  } catch (error) {
    return error;
  }
};
send(stored);
parentPort?.on("message", (message: Parameters<typeof write> | "close") => {
  if (message !== "close") return send(answer(message));
  close();
  parentPort?.close();
});
