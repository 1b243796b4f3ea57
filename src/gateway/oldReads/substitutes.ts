import type { IncomingMessage, ServerResponse } from "node:http";
import type { WholeCore } from "../answer/core.ts";
import { isIll, reportIll } from "../answer/illAnswer.ts";
import { errorCodeOf, refusedIn } from "../answer/proxiedWrites.ts";
import type { Substitute } from "../proxy/passThrough.ts";
import { type Beginning, decodedBeginning } from "../upstream/answerBeginning.ts";
import { mediaType } from "../upstream/answerHeaders.ts";
import type { CachedReads } from "./cachedReads.ts";
import { isDoubted } from "./judge.ts";
import { afterHeld, type Held } from "./nextStep.ts";
import type { OldRead } from "./oldRead.ts";
import type { Replies } from "./replies.ts";

/** Milliseconds after which the public list is fetched again if lists pass, and the load from which it is not. */
const PREFETCH_AFTER = 3_600_000;
const PREFETCH_LOAD = 0.5;

/** Legacy's code for a key that it does not know. */
const WRONG_KEY: ReadonlySet<number> = new Set([103]);

/**
 * Opens the substitutes for legacy's answer to a read that passes, for when legacy itself gives none; false: the
 * answer is passed on, whatever it is.
 */
export const openSubstitutes = (
  core: Pick<WholeCore, "errors" | "judgeEmpty" | "keys" | "load" | "observer" | "outage">,
  { cached, replies }: { cached: CachedReads; replies: Replies },
): ((req: IncomingMessage, res: ServerResponse, read: OldRead) => Substitute | false) => {
  const { keys, observer, outage } = core;
  const { sendInPlace, sendStored } = replies;
  /**
   * Answer requests that wait for legacy, which may have frozen since: the public answer may stand in place of
   * legacy's. As members of a Set they would take half as long again.
   */
  const waiting: { answerNow: () => void; index: number }[] = [];
  outage.onChange(({ is }) => {
    if (is === "failing") for (const { answerNow } of waiting) answerNow();
  });
  const answerWhenLegacyFails = (req: IncomingMessage, res: ServerResponse, read: OldRead): void => {
    // The client has left before: nothing would take it out again.
    if (res.destroyed) return;
    const waiter = { answerNow: () => void sendInPlace(req, res, read).catch(observer.fault), index: 0 };
    waiter.index = waiting.push(waiter) - 1;
    res.once("close", () => {
      const last = waiting.pop() as typeof waiter;
      if (last !== waiter) waiting[(last.index = waiter.index)] = last;
    });
  };

  let isPrefetching = false;
  /**
   * Fetches the public list, unless a young one is stored: callers whose lists pass need it when legacy fails.
   */
  const prefetch = async (read: OldRead): Promise<void> => {
    if (isPrefetching || core.load() >= PREFETCH_LOAD || outage.isOn() || cached.isPassing(read)) return;
    isPrefetching = true;
    try {
      const found = await cached.findStored({ ...read, wanted: {} });
      if (found !== undefined && performance.now() - found.entry.storedAt < PREFETCH_AFTER) return;
      await cached.answer({ ...read, wanted: { noCache: true } });
    } finally {
      isPrefetching = false;
    }
  };

  /** Sends the public rows in place of "no results", where that is not believed. */
  const sendRows = async (req: IncomingMessage, res: ServerResponse, read: OldRead, answer: Beginning) => {
    const code = read.isList ? errorCodeOf(answer) : undefined;
    if (code === undefined) return false;
    const stored = (await cached.findStored(read))?.entry;
    return (await isDoubted(core, read, { ...answer, code }, stored)) && sendStored(req, res, read);
  };

  return (req, res, read) => {
    const { key, cacheKey, wanted } = read;
    if (wanted.noCache || wanted.noStore) return false;
    answerWhenLegacyFails(req, res, read);
    return (answer) => {
      const judgement = answer?.judgement;
      if (answer !== undefined && judgement === "own") {
        if (answer.status === 200) {
          if (key !== undefined) keys.accepted(key);
          if (cacheKey.personal) prefetch(read).catch(observer.fault);
        } else if (key !== undefined && refusedIn(answer, mediaType(answer.headers), WRONG_KEY)) keys.refused(key);
      }
      if (answer !== undefined && isIll(answer)) {
        const { status, headers } = answer;
        const body = decodedBeginning(answer) ?? answer.body;
        const illAnswer = { status, contentType: mediaType(headers), judgement, body };
        reportIll(observer, read.name, illAnswer, { key, isOfClient: true });
      }
      const step = afterHeld[heldIn(answer)];
      let sending: Promise<boolean> | undefined;
      if (step === "inPlace") sending = sendInPlace(req, res, read);
      else if (step === "storedIfDoubted" && answer !== undefined) sending = sendRows(req, res, read, answer);
      if (sending === undefined) replies.countPassed(read);
      return sending?.then((isSent) => {
        if (!isSent) replies.countPassed(read);
        return isSent;
      });
    };
  };
};

const heldIn = (answer: Parameters<Substitute>[0]): Held => {
  if (answer === undefined || answer.judgement === "ill") return "failure";
  const { judgement, status, body } = answer;
  if (judgement === "own") return status === 200 ? "document" : "error";
  return judgement === "refused" || (judgement === "failed" && status === 500 && body.length === 0)
    ? "refusal"
    : "unjudged";
};
