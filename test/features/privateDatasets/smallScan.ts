import { onTestFinished } from "vitest";
import { openIndex } from "../../../src/features/privateDatasets/index.ts";
import { legacyAnswers, readRow, type RowSource } from "../../../src/features/privateDatasets/readRow.ts";
import { openRecheckQueue } from "../../../src/features/privateDatasets/recheckQueue.ts";
import type { Kept } from "../../../src/features/privateDatasets/rows.ts";
import { MARGIN, openScanner, type ScanOptions } from "../../../src/features/privateDatasets/scan.ts";
import { datasetApart } from "../../../transforms/datasetApart.ts";
import { until } from "../../support/waiting.ts";
import { type Entry, privateOne, publicOne, type SmallLegacy } from "./smallLegacy.ts";

/** One that walks over a small legacy, as often as it is told to. */
export const startWalk = (legacy: SmallLegacy, kept?: Kept, options: ScanOptions = {}) => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const events: string[] = [];
  const walk = { time: kept?.walk.completedAt ?? 1, mayWalk: true };
  const index = openIndex({ onFound: () => undefined, onRows: () => undefined });
  if (kept) index.take({ ...kept, gone: [] }, true);
  const source: RowSource = {
    ask: legacy.as("administrator"),
    askWithoutKey: legacy.as("nobody"),
    apart: datasetApart,
  };
  const queue = openRecheckQueue({
    read: (id) => readRow(source, id),
    legacyAnswers: () => legacyAnswers(source),
    record: index.record,
    onFull: () => undefined,
    signal,
    firstWait: 1,
  });
  const scanner = openScanner({
    index,
    source,
    queue,
    record: index.record,
    mayScan: () => walk.mayWalk,
    onEvent: (event, about) => void events.push(`${event} ${String(about["why"])}`),
    signal,
    now: () => walk.time,
    options: { pause: 1, retry: 1, slice: 0, ...options },
  });
  const running = scanner.run();
  const stop = async (): Promise<Kept> => {
    stopping.abort();
    await running;
    return index.snapshot();
  };
  onTestFinished(async () => void (await stop()));
  const ids = () => index.rows().map(({ id }) => id);
  return {
    walk,
    index,
    queue,
    events,
    soon: scanner.soon,
    stop,
    ids,
    view: () => scanner.view(),
    hidden: () => ids().filter((id) => index.get(id)?.shown === undefined),
    /** Comes back when the walk that is on its way, or the first one, is over. */
    async walked() {
      await until(() => index.walk().completedAt === walk.time && scanner.view().doing === "waiting");
      await until(() => queue.ids().length === 0);
      return ids();
    },
    /** Comes back when the walk is over, or something else is; who may not walk may again once they rest. */
    async walkedOr(isOver: () => boolean) {
      await until(() => {
        const isResting = scanner.view().doing === "waiting";
        if (isResting) walk.mayWalk = true;
        return isOver() || (isResting && index.walk().completedAt === walk.time);
      });
    },
    /** Begins the next one. */
    again: () => void walk.time++,
  };
};

export type SmallWalk = ReturnType<typeof startWalk>;

/** All the ids between two, with both. */
export const upTo = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

export const LIST = "list 200 0";
/** The queue about ids, of which some are private. */
export const looks = (ids: readonly number[], isPrivate = (_id: number) => false) =>
  ids.flatMap((id) => (isPrivate(id) ? [`one ${id}`, `rest ${id}`] : [`one ${id}`]));

/** 1, 3, 8 and 9 are listed, 2 and 7 private. */
export const few = (): [number, Entry][] => [
  [1, publicOne],
  [2, privateOne],
  [3, publicOne],
  [7, { ...privateOne, uploader: 1 }],
  [8, publicOne],
  [9, publicOne],
];
export const unlisted = [2, 4, 5, 6, 7];
export const beyond = upTo(10, 9 + MARGIN);
