import { onTestFinished } from "vitest";
import { openIndex } from "../../../src/features/privateDatasets/index.ts";
import { listedPage, lookAt, type Looked, type Unheard } from "../../../src/features/privateDatasets/look.ts";
import { openQuestions } from "../../../src/features/privateDatasets/questions.ts";
import type { Kept } from "../../../src/features/privateDatasets/rows.ts";
import { MARGIN, openWalker, type WalkWays } from "../../../src/features/privateDatasets/walk.ts";
import { legacyErrors } from "../../../transforms/legacyErrors.ts";
import { privateDatasets } from "../../../transforms/privateDatasets.ts";
import { type Entry, privateOne, publicOne, type SmallLegacy } from "./smallLegacy.ts";
import { until } from "../../support/waiting.ts";

/** One that walks over a small legacy, as often as it is told to. */
export const startWalk = (legacy: SmallLegacy, kept?: Kept, ways: WalkWays = {}) => {
  const stopping = new AbortController();
  const { signal } = stopping;
  const events: string[] = [];
  const walk = { time: kept?.walk.completedAt ?? 1, mayWalk: true };
  const index = openIndex({ onFound: () => undefined, onRows: () => undefined });
  if (kept) index.take({ ...kept, gone: [] }, true);
  const looking = { ask: legacy.as("administrator"), askAsNobody: legacy.as("nobody"), errors: legacyErrors };
  const take = (id: number, looked: Exclude<Looked, Unheard>): void => {
    if (looked.found === "private") index.put({ id, shown: looked.shown });
    else if (looked.found === "hidden") index.put({ id });
    else index.remove(id);
  };
  const questions = openQuestions({
    lookAt: (id) => lookAt(privateDatasets, id, looking),
    legacyAnswers: async () => "ids" in (await listedPage(privateDatasets, { offset: 0, limit: 1 }, looking)),
    take,
    onFull: () => undefined,
    signal,
    retry: 1,
  });
  const walker = openWalker({
    knowledge: privateDatasets,
    index,
    looking,
    questions,
    take,
    mayWalk: () => walk.mayWalk,
    onEvent: (event, about) => void events.push(`${event} ${String(about["why"])}`),
    signal,
    now: () => walk.time,
    ways: { pause: 1, retry: 1, slice: 0, ...ways },
  });
  const running = walker.run();
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
    questions,
    events,
    soon: walker.soon,
    stop,
    ids,
    view: () => walker.view(),
    hidden: () => ids().filter((id) => index.get(id)?.shown === undefined),
    /** Comes back when the walk that is on its way, or the first one, is over. */
    async walked() {
      await until(() => index.walk().completedAt === walk.time && walker.view().doing === "waiting");
      await until(() => questions.ids().length === 0);
      return ids();
    },
    /** Comes back when the walk is over, or something else is; who may not walk may again once they rest. */
    async walkedOr(isOver: () => boolean) {
      await until(() => {
        const isResting = walker.view().doing === "waiting";
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
/** The questions about ids, of which some are private. */
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
