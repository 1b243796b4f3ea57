import { parentPort, workerData } from "node:worker_threads";
import type { Invalidation } from "../../src/gateway/index.ts";
import { isBusy, isDamaged } from "../../libraries/stores/dataDirectory.ts";
import { EntryFile, type FileSize, type FoundRow, takeAway, Unusable } from "./entryFile.ts";
import { KnownKeys } from "./knownKeys.ts";
import { readRows } from "./rows.ts";

/** `known`: the memory of `KnownKeys`. */
export type ThreadData = { directory: string; bytes: number; known: SharedArrayBuffer };

/** A message to the thread. Each gets one answer, in order. */
export type Ask =
  | { get: string }
  | { put: SharedArrayBuffer; count: number }
  | { invalidate: Invalidation }
  | { empty: string }
  | { tend: true };

/** An answer of the thread. The first comes without a request, once the file is open. An `Error`: it failed. */
export type ThreadAnswer = {
  found?: FoundRow | undefined;
  /** The number of entries that were stored. */
  stored?: number;
  isMore?: boolean;
  size?: FileSize;
  /** The file was opened since the last answer. `emptied`: why it was replaced by an empty file. */
  opened?: Opened | undefined;
};

type Opened = { hasEntries: boolean; emptied?: string };

const { directory, bytes, known: shared } = workerData as ThreadData;
const known = new KnownKeys(shared);
let file: EntryFile | undefined;
let opened: Opened | undefined;

const open = (emptied?: string): EntryFile => {
  const entries = new EntryFile(directory, bytes, known);
  opened = { hasEntries: entries.hasEntries(), ...(emptied !== undefined && { emptied }) };
  return entries;
};

const isLost = (error: unknown): boolean => isDamaged(error) || error instanceof Unusable;

/** Replaces the file by an empty one. */
const emptyFile = (why: unknown): EntryFile => {
  try {
    file?.close();
  } finally {
    file = undefined;
    takeAway(directory, isDamaged(why) || (why instanceof Unusable && why.isKept));
  }
  return open((why as Error).message);
};

const perform = (ask: Ask | "open"): ThreadAnswer => {
  file ??= open();
  if (ask === "open") return {};
  if (!known.areComplete) file.countKeys();
  if ("get" in ask) return { found: file.get(ask.get) };
  if ("put" in ask) return { stored: file.put(readRows(ask.put, ask.count)), size: file.size() };
  if ("tend" in ask) return { isMore: file.tend(), size: file.size() };
  if ("invalidate" in ask) file.invalidate(ask.invalidate);
  else file = emptyFile(new Unusable(ask.empty));
  return {};
};

const answer = (ask: Ask | "open"): ThreadAnswer | Error => {
  try {
    return perform(ask);
  } catch (error) {
    // What a write has changed must not stay: rather nothing stays.
    const isWrite = ask !== "open" && ("invalidate" in ask || "empty" in ask);
    if (isBusy(error) || !(isWrite || isLost(error))) return error as Error;
    try {
      file = emptyFile(error);
      return perform(ask);
    } catch (again) {
      return again as Error;
    }
  }
};

const send = (result: ThreadAnswer | Error): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(result instanceof Error ? result : { ...result, opened });
  if (!(result instanceof Error)) opened = undefined;
};

send(answer("open"));
parentPort?.on("message", (ask: Ask | "close") => {
  if (ask !== "close") return send(answer(ask));
  file?.close();
  parentPort?.close();
});
