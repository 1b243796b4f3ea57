import { parentPort, workerData } from "node:worker_threads";
import { dataDirectoryTrouble } from "./dataDirectory.ts";

// The thread that tries to write to the directory. It sends the reason of a failure, and ends.
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(dataDirectoryTrouble(workerData as string));
