import type { IncomingMessage } from "node:http";
import type { Cache } from "../cache/cache.ts";
import type { LegacyWriteKnowledge } from "../endpoint/legacyInterface.ts";
import type { LegacyTarget, ReadLegacyTarget } from "../legacy/legacyTarget.ts";
import type { OldClients } from "../features/retirement/retirement.ts";
import type { PassThroughOptions } from "../proxy/passThrough.ts";
import type { ResponseObserver } from "../proxy/heldAnswer.ts";
import type { Feed } from "../features/privateDatasets/feed.ts";
import { fateOf } from "./answeredWrite.ts";
import { type PassingWrite, passingWrite } from "./passingWrite.ts";
import { type UnconfirmedWrites, UNSETTLED } from "./unconfirmedWrites.ts";

export type PassThroughParts = {
  passing: LegacyWriteKnowledge;
  readTarget: ReadLegacyTarget;
  cache: Cache;
  unconfirmed: UnconfirmedWrites;
  oldClients: OldClients;
  feed?: Feed | undefined;
};

/** Looks on while requests pass through: who sends them, and what of the kept answers they outdate. */
export const observePassThrough = (parts: PassThroughParts): NonNullable<PassThroughOptions["observe"]> => {
  const { passing, readTarget, oldClients, feed } = parts;
  return (method, target, req) => {
    const legacy = readTarget(target);
    if (legacy === undefined) return undefined;
    const write = passingWrite(passing, method, legacy);
    // The key may stand in the body, which is looked at in writes alone.
    if (write === undefined) {
      oldClients.seen(req, target);
      return feed && readOn(feed, method, legacy);
    }
    return {
      chunk: write.chunk,
      over(answer, isSent) {
        oldClients.seen(req, target, write.body());
        return isSent ? written(parts, legacy, req, write, answer) : undefined;
      },
    };
  };
};

/**
 * Outdates what a write touched. It counts with a key, where its body is complete and legacy does not refuse it unseen; with a session alone, and
 * where a key may stand further on in the body, only with an answer that is no error. Otherwise anybody could empty the cache.
 */
const written = (
  { passing, cache, unconfirmed, feed }: PassThroughParts,
  { path }: LegacyTarget,
  req: IncomingMessage,
  write: PassingWrite,
  answer: Parameters<ResponseObserver["over"]>[0],
): Promise<void> | undefined => {
  if (!req.complete) return undefined;
  const fate = fateOf(answer, passing.refusals);
  if (fate === "refused") return undefined;
  const key = write.key(req.headers["content-type"]);
  if (fate === "unknown")
    return unconfirmed.note(key, () => {
      feed?.written(path, [...write.groups(), ...write.named()], undefined);
      return cache.drop({ groups: write.groups(), soft: true, hold: UNSETTLED });
    });
  const isError = answer === undefined || answer.status >= 300;
  if (key === undefined && (isError || !(hasSession(req) || write.isCut()))) return undefined;
  feed?.written(path, [...write.groups(), ...write.named()], answer);
  return cache.drop({ groups: write.groups() });
};

/** Legacy's website logs people in by this cookie, and its interface then knows them. */
const hasSession = ({ headers }: IncomingMessage): boolean => /(?:^|[;\s])ci_session=[^;\s]/.test(headers.cookie ?? "");

/** What a reader of a single row is told of it. */
const readOn = (feed: Feed, method: string, { path }: LegacyTarget): ResponseObserver | undefined => {
  const id = feed.readBy(method, path);
  return id === undefined
    ? undefined
    : {
        chunk: () => undefined,
        over(answer) {
          if (answer) feed.passed(id, answer);
          return undefined;
        },
      };
};
