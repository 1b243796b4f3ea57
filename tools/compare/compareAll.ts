import { setTimeout as sleep } from "node:timers/promises";
import { compareTwice } from "../../libraries/compare/compareTwice.ts";
import { openRateLimiter } from "./rateLimiter.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import type { ComparisonOutcome } from "./compareOne.ts";

type ComparingTasks = {
  /** The workers share it. */
  requests: AsyncGenerator<CorpusRequest>;
  /** Sends a request to both sides; `again`: bypasses all caches. */
  compare: (request: CorpusRequest, again: boolean) => Promise<ComparisonOutcome>;
  /** Called once for every request, with its final outcome. */
  count: (outcome: ComparisonOutcome) => void;
  /** Requests a second to each side; 0: no limit. */
  rate: number;
  /** Requests that are sent at a time. */
  concurrency: number;
  /** Milliseconds until a mismatch is checked again. */
  settle: number;
};

/** Requests that are compared at a time. Most of them wait for their second check. */
const MAX_OPEN = 1000;

/**
 * Compares the answers to all requests, and checks a mismatch a second time after a while.
 *
 * @throws If `signal` aborts.
 */
export const compareAll = async (
  { requests, compare, count, rate, concurrency, settle }: ComparingTasks,
  signal: AbortSignal,
): Promise<void> => {
  const limiter = openRateLimiter(rate);
  const withSlot = openSlots(concurrency);
  const pause = () => sleep(settle, undefined, { signal });
  const send = (request: CorpusRequest, again: boolean) =>
    withSlot(async () => {
      await limiter(signal);
      return compare(request, again);
    });

  /** The first comparison is tried twice, since an answer may be missing. */
  const compareOnce = async (request: CorpusRequest, again: boolean): Promise<ComparisonOutcome> => {
    const outcome = await send(request, again);
    if (again || outcome.differences !== undefined) return outcome;
    await pause();
    return send(request, true);
  };

  const worker = async (): Promise<void> => {
    for await (const request of requests) count(await compareTwice((again) => compareOnce(request, again), pause));
  };
  await Promise.all(Array.from({ length: MAX_OPEN }, worker));
};

/** Returns a function that runs calls, at most `count` at a time, in their order. */
const openSlots = (count: number) => {
  const waiting: (() => void)[] = [];
  let free = count;
  return async <Result>(call: () => Promise<Result>): Promise<Result> => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await call();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
};
