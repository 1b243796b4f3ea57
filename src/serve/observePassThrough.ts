import type { IncomingMessage } from "node:http";
import type { Cache } from "../cache/cache.ts";
import { allOf } from "../concurrency/allOf.ts";
import type { LegacyWriteKnowledge } from "../endpoint/legacyInterface.ts";
import type { LegacyTarget, ReadLegacyTarget } from "../legacy/legacyTarget.ts";
import type { ResponseObserver } from "../proxy/heldAnswer.ts";
import type { PassThroughOptions } from "../proxy/passThrough.ts";
import type { Feature, Hooks } from "./feature.ts";
import { type UnconfirmedWrites, UNSETTLED } from "./unconfirmedWrites.ts";
import { fateOf, type PassingWrite, passingWrite } from "./writes.ts";

/** What observing the proxied traffic needs. */
export type PassThroughParts = {
  passing: LegacyWriteKnowledge;
  readTarget: ReadLegacyTarget;
  cache: Cache;
  unconfirmed: UnconfirmedWrites;
  hooks: Hooks;
  features: readonly Feature[];
};

/** Observes requests that are passed through: writes invalidate cached answers, and features see what they ask for. */
export const observePassThrough = (parts: PassThroughParts): NonNullable<PassThroughOptions["observe"]> => {
  const { passing, readTarget, features } = parts;
  return (method, target, req) => {
    const legacy = readTarget(target);
    if (legacy === undefined) return undefined;
    const write = passingWrite(passing, method, legacy);
    const request = { method, target, legacy, req, isWrite: write !== undefined };
    const observers = features.flatMap(({ proxy }) => proxy?.observe?.(request) ?? []);
    if (write === undefined && observers.length === 0) return undefined;
    return {
      chunk: write?.chunk ?? (() => undefined),
      over(answer, isSent) {
        const body = write?.body();
        for (const observer of observers) observer(answer, isSent, body);
        return write && isSent ? invalidate(parts, legacy, req, write, answer) : undefined;
      },
    };
  };
};

/**
 * Invalidates what a write touched. It counts with a key, where its body is complete and legacy did not refuse it unseen; with a session alone,
 * and where a key may stand further on in the body, only with an answer that is no error. Otherwise anybody could empty the cache.
 */
const invalidate = (
  { passing, cache, unconfirmed, hooks }: PassThroughParts,
  { path }: LegacyTarget,
  req: IncomingMessage,
  write: PassingWrite,
  answer: Parameters<ResponseObserver["over"]>[0],
): Promise<void> | undefined => {
  if (!req.complete) return undefined;
  const fate = fateOf(answer, passing.refusals);
  if (fate === "refused") return undefined;
  const tell = (isLost: boolean) =>
    hooks.onWrite({
      groups: write.groups(),
      isLost,
      proxied: { path, named: write.named(), answer: isLost ? undefined : answer },
    });
  const key = write.key(req.headers["content-type"]);
  if (fate === "unknown")
    return unconfirmed.note(key, () =>
      allOf([tell(true), cache.invalidate({ groups: write.groups(), soft: true, hold: UNSETTLED })]),
    );
  const isError = answer === undefined || answer.status >= 300;
  if (key === undefined && (isError || !(hasSession(req) || write.isCut()))) return undefined;
  return allOf([tell(false), cache.invalidate({ groups: write.groups() })]);
};

/** Legacy's website logs people in by this cookie, and its interface then knows them. */
const hasSession = ({ headers }: IncomingMessage): boolean => /(?:^|[;\s])ci_session=[^;\s]/.test(headers.cookie ?? "");
