import { setTimeout as sleep } from "node:timers/promises";
import type { Difference } from "../../libraries/compare/difference.ts";
import { markDrift } from "../../libraries/compare/compareAnswers.ts";
import { openRateLimiter } from "./rateLimiter.ts";
import type { CorpusRequest } from "../corpus/corpusRequest.ts";
import type { ComparedRequest } from "./compareOne.ts";

type ComparingTasks = {
  requests: AsyncIterator<CorpusRequest>;
  /** Sends a request to both sides; `again`: bypasses all caches. */
  compare: (request: CorpusRequest, again: boolean) => Promise<ComparedRequest>;
  /** Called once for every request, with its final outcome. */
  count: (request: CorpusRequest, compared: ComparedRequest) => void;
  /** Requests a second to each side; 0: no limit. */
  rate: number;
  concurrency: number;
  /** Milliseconds until a mismatch is checked again. */
  settle: number;
};

/** A mismatch to be checked again. `before`: its differences; `undefined` if the answers could not be compared. */
type Recheck = { request: CorpusRequest; before: Difference[] | undefined };

/** Mismatches that wait for the second check; at this number no new request is sent. */
const MAX_RECHECKS = 1000;

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
  let rechecks: Recheck[] = [];
  let isOver = false;

  /** Runs `work` on the results of `next`, at most `concurrency` at a time, until `next` returns `undefined`. */
  const workOff = async <T>(next: () => Promise<T | undefined>, work: (item: T) => Promise<void>): Promise<unknown> => {
    const worker = async () => {
      for (let item = await next(); item !== undefined; item = await next()) {
        await limiter(signal);
        await work(item);
      }
    };
    return Promise.all(Array.from({ length: concurrency }, worker));
  };

  const nextRequest = async (): Promise<CorpusRequest | undefined> => {
    if (isOver || rechecks.length >= MAX_RECHECKS) return undefined;
    const { done, value } = await requests.next();
    isOver ||= done === true;
    return done ? undefined : value;
  };

  const compareFirst = async (request: CorpusRequest): Promise<void> => {
    const compared = await compare(request, false);
    const { outcome } = compared;
    if (!("differences" in outcome)) rechecks.push({ request, before: undefined });
    else if (isMismatch(outcome)) rechecks.push({ request, before: outcome.differences });
    else count(request, compared);
  };

  const compareAgain = async ({ request, before }: Recheck): Promise<void> => {
    const compared = await compare(request, true);
    const { outcome } = compared;
    if (!("differences" in outcome)) return count(request, compared);
    const { differences } = outcome;
    if (before !== undefined)
      return count(request, {
        ...compared,
        outcome: { ...outcome, differences: markDrift(before, differences) },
      });
    // The answers could not be compared the first time: this is the first comparison.
    if (isMismatch(outcome)) rechecks.push({ request, before: differences });
    else count(request, compared);
  };

  for (;;) {
    await workOff(nextRequest, compareFirst);
    if (isOver && rechecks.length === 0) return;
    const due = rechecks;
    rechecks = [];
    await sleep(settle, undefined, { signal });
    await workOff(async () => due.shift(), compareAgain);
  }
};

const isMismatch = ({ differences }: { differences: Difference[] }): boolean =>
  differences.some(({ kind }) => kind === "unexplained");
