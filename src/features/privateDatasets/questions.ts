import { openInsist } from "./insist.ts";
import type { Looked, Unheard } from "./look.ts";
import { MOST } from "./rows.ts";

/** Ids that something happened to: they are looked at again at once, one after the other. */
export type Questions = {
  ask: (id: number) => void;
  has: (id: number) => boolean;
  ids: () => number[];
  /** Comes back when none is open, or where legacy fails. */
  settled: () => Promise<void>;
  /** From now on; what is called tells whether something has happened to it since. */
  watch: (id: number) => () => boolean;
  /** Another instance has looked at these: looks that are on their way may be older. */
  outdate: (ids: Iterable<number>) => void;
};

export type QuestionsSettings = {
  lookAt: (id: number) => Promise<Looked>;
  /** Whether legacy answers anything at all. */
  legacyAnswers: () => Promise<boolean>;
  take: (id: number, looked: Exclude<Looked, Unheard>) => void;
  /** Told of an id that there is no room for. */
  onFull: () => void;
  signal: AbortSignal;
  retry?: number | undefined;
};

/** More are looked at by the next walk. */
const MOST_OPEN = 1000;

export const openQuestions = ({ lookAt, legacyAnswers, take, onFull, signal, retry }: QuestionsSettings): Questions => {
  /** What was asked last of each: an answer to an earlier question is none. */
  const open = new Map<number, symbol>();
  const watchers = new Set<{ id: number; isAsked: boolean }>();
  const waiting: (() => void)[] = [];
  let isWorking = false;
  let isInTrouble = false;
  const letGo = () => {
    for (const done of waiting.splice(0)) done();
  };
  const insist = openInsist({
    goesOn: () => !signal.aborted,
    onTrouble(trouble) {
      isInTrouble = trouble !== undefined;
      if (isInTrouble) letGo();
    },
    signal,
    first: retry,
  });

  const work = async (): Promise<void> => {
    isWorking = true;
    for (const [id, question] of open) {
      const looked = await insist(() => lookAt(id), legacyAnswers);
      if (looked === undefined) break;
      // The map goes on with what was put in again.
      if (open.get(id) !== question) continue;
      open.delete(id);
      take(id, "failed" in looked ? { found: "hidden", why: looked.failed } : looked);
    }
    isWorking = false;
    letGo();
  };

  const outdateLooks = (id: number): void => {
    for (const watcher of watchers) watcher.isAsked ||= watcher.id === id;
    // At the end, so that who works through it comes by again.
    if (open.delete(id)) open.set(id, Symbol(id));
  };

  return {
    ask(id) {
      // Anybody's request can name an id that is none.
      if (signal.aborted || !(id >= 1 && id <= MOST)) return;
      if (open.size >= MOST_OPEN && !open.has(id)) return onFull();
      outdateLooks(id);
      if (!open.has(id)) open.set(id, Symbol(id));
      if (!isWorking) void work();
    },
    outdate(ids) {
      for (const id of ids) outdateLooks(id);
    },
    has: (id) => open.has(id),
    ids: () => [...open.keys()],
    settled: () =>
      new Promise((resolve) => {
        if (open.size === 0 || isInTrouble) resolve();
        else waiting.push(resolve);
      }),
    watch(id) {
      const watcher = { id, isAsked: open.has(id) };
      watchers.add(watcher);
      return () => {
        watchers.delete(watcher);
        return watcher.isAsked;
      };
    },
  };
};
