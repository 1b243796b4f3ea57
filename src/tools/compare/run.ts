import { setTimeout as sleep } from "node:timers/promises";
import type { Difference } from "../../compare/difference.ts";
import { settleDifferences } from "../../compare/judge.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import type { ComparedRequest } from "./compareOne.ts";

type RunSettings = {
  /** Requests a second to each side; 0: no limit. */
  rate: number;
  concurrency: number;
  /** Milliseconds until a mismatch is checked again. */
  settle: number;
};

/** `before`: the differences of the first time; `undefined` where a side gave no answer. */
type Recheck = { index: number; request: CorpusRequest; before: Difference[] | undefined; due: number };

/** Mismatches that wait to be checked again; at this number no new request is sent. */
const MAX_RECHECKS = 1000;

type RunTasks = {
  requests: AsyncIterable<CorpusRequest> | Iterable<CorpusRequest>;
  /** Sends a request to both sides; `again`: bypassing all caches. */
  compare: (request: CorpusRequest, again: boolean) => Promise<ComparedRequest>;
  /** Called once for every request, with its final outcome. */
  count: (request: CorpusRequest, compared: ComparedRequest) => void;
  done: Done;
  settings: RunSettings;
};

/** Compares all requests that are not done yet, and mismatches twice. Ends early when `signal` aborts. */
export const run = async (
  { requests, compare, count, done, settings }: RunTasks,
  signal: AbortSignal,
): Promise<void> => {
  const limiter = rateLimiter(settings.rate);
  const rechecks: Recheck[] = [];
  const coming = numbered(requests, done);
  let isOver = false;
  let busy = 0;

  const settle = (index: number, request: CorpusRequest, compared: ComparedRequest) => {
    count(request, compared);
    done.add(index);
  };

  const compareFirst = async (index: number, request: CorpusRequest) => {
    const compared = await compare(request, false);
    if ("differences" in compared.outcome && !isMismatch(compared.outcome)) return settle(index, request, compared);
    later(index, request, compared);
  };

  const later = (index: number, request: CorpusRequest, { outcome }: ComparedRequest) => {
    const before = "failed" in outcome ? undefined : outcome.differences;
    rechecks.push({ index, request, before, due: performance.now() + settings.settle });
  };

  const compareAgain = async ({ index, request, before }: Recheck) => {
    const compared = await compare(request, true);
    const { outcome } = compared;
    if ("failed" in outcome) return settle(index, request, compared);
    // The first time one side gave no answer: this is the first comparison.
    if (before === undefined)
      return isMismatch(outcome) ? later(index, request, compared) : settle(index, request, compared);
    settle(index, request, {
      ...compared,
      outcome: { ...outcome, differences: settleDifferences(before, outcome.differences) },
    });
  };

  /** The next task: a recheck that is due, a new request, or waiting for one of them. */
  const next = async (): Promise<(() => Promise<void>) | "wait" | undefined> => {
    const [recheck] = rechecks;
    if (recheck && recheck.due <= performance.now()) {
      rechecks.shift();
      return () => compareAgain(recheck);
    }
    if (!isOver && rechecks.length < MAX_RECHECKS) {
      const one = await coming.next();
      if (!one.done) return () => compareFirst(...one.value);
      isOver = true;
    }
    return rechecks.length > 0 || busy > 0 ? "wait" : undefined;
  };

  const work = async () => {
    while (!signal.aborted) {
      const todo = await next();
      if (todo === undefined) return;
      if (todo === "wait") {
        await sleep(20);
        continue;
      }
      busy++;
      try {
        await limiter(signal);
        await todo();
      } catch (error) {
        if ((error as Error).name !== "AbortError") throw error;
      } finally {
        busy--;
      }
    }
  };
  await Promise.all(Array.from({ length: settings.concurrency }, work));
};

const isMismatch = ({ differences }: { differences: Difference[] }): boolean =>
  differences.some(({ kind }) => kind === "unexplained");

/** The requests that are not done yet, with their indices. */
const numbered = async function* (
  requests: AsyncIterable<CorpusRequest> | Iterable<CorpusRequest>,
  done: Done,
): AsyncGenerator<[number, CorpusRequest], undefined> {
  let index = 0;
  for await (const request of requests) {
    if (!done.has(index)) yield [index, request];
    index++;
  }
  return undefined;
};

/** The indices of the requests that are done: all below `upTo`, and these beyond. */
export type DoneState = { upTo: number; beyond: number[] };

type Done = { has(index: number): boolean; add(index: number): void; count(): number; state(): DoneState };

/** Requests end almost in order, so that the state does not grow with their number. */
export const openDone = (state: DoneState = { upTo: 0, beyond: [] }): Done => {
  let { upTo } = state;
  const beyond = new Set(state.beyond);
  return {
    has: (index) => index < upTo || beyond.has(index),
    add(index) {
      beyond.add(index);
      while (beyond.delete(upTo)) upTo++;
    },
    count: () => upTo + beyond.size,
    state: () => ({ upTo, beyond: [...beyond] }),
  };
};

/** Waits until the next request may be sent: `rate` a second, evenly; 0: at once. Rejects when `signal` aborts. */
const rateLimiter = (
  rate: number,
  now: () => number = () => performance.now(),
): ((signal: AbortSignal) => Promise<void>) => {
  const gap = rate > 0 ? 1000 / rate : 0;
  let next = 0;
  return async (signal) => {
    if (gap === 0) return;
    const at = Math.max(now(), next);
    next = at + gap;
    if (at > now()) await sleep(at - now(), undefined, { signal });
  };
};
