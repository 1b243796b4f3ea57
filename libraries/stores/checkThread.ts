import { parentPort, workerData } from "node:worker_threads";
import { dataDirectoryTrouble } from "./dataDirectory.ts";

// The thread that tries whether the directory can be written to. It sends why not, and ends.
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
parentPort?.postMessage(dataDirectoryTrouble(workerData as string));
