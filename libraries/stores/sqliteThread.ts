import { parentPort, workerData } from "node:worker_threads";
import { sqliteDisk } from "./sqliteDisk.ts";

// The thread that holds the database. It sends what it found, then answers each write in order: with nothing, or with its error.
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
const send = (message: unknown): void => parentPort?.postMessage(message);
const { found, write, close } = sqliteDisk(workerData as string);

const answer = (about: Parameters<typeof write>): unknown => {
  try {
    return write(...about);
  } catch (error) {
    return error;
  }
};
send(found);
parentPort?.on("message", (message: Parameters<typeof write> | "close") => {
  if (message !== "close") return send(answer(message));
  close();
  parentPort?.close();
});
