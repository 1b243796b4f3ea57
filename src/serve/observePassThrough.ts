import type { IncomingMessage } from "node:http";
import { allOf } from "../concurrency/allOf.ts";
import type { LegacyWriteKnowledge } from "../endpoint/legacyInterface.ts";
import type { LegacyTarget, ReadLegacyTarget } from "../legacy/legacyTarget.ts";
import type { ResponseObserver } from "../proxy/heldAnswer.ts";
import type { PassThroughOptions } from "../proxy/passThrough.ts";
import type { Feature, Services } from "./feature.ts";
import { UNCONFIRMED_MS } from "./unconfirmedWrites.ts";
import { fateOf, type PassingWrite, passingWrite, type WriteFate } from "./writes.ts";

/** Observes requests that are passed through: writes invalidate cached answers, and features see what they ask for. */
export const observePassThrough =
  (
    services: Services,
    features: readonly Feature[],
    passing: LegacyWriteKnowledge,
    readTarget: ReadLegacyTarget,
  ): NonNullable<PassThroughOptions["observe"]> =>
  (method, target, req) => {
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
        if (write === undefined || !isSent || !req.complete) return undefined;
        return invalidate(services, legacy, req, write, answer, fateOf(answer, passing.refusals));
      },
    };
  };

/**
 * Invalidates what a write touched. It counts with a key, where its body is complete and legacy did not refuse it unseen; with a session alone,
 * and where a key may stand further on in the body, only with an answer that is no error. Otherwise anybody could empty the cache.
 */
const invalidate = (
  { cache, unconfirmed, hooks }: Services,
  { path }: LegacyTarget,
  req: IncomingMessage,
  write: PassingWrite,
  answer: Parameters<ResponseObserver["over"]>[0],
  fate: WriteFate,
): Promise<void> | undefined => {
  if (fate === "refused") return undefined;
  const onWrite = (isLost: boolean) =>
    hooks.onWrite({
      groups: write.groups(),
      isLost,
      proxied: { path, named: write.named(), answer: isLost ? undefined : answer },
    });
  const key = write.key(req.headers["content-type"]);
  if (fate === "unknown")
    return unconfirmed.note(key, () =>
      allOf([onWrite(true), cache.invalidate({ groups: write.groups(), soft: true, hold: UNCONFIRMED_MS })]),
    );
  const isError = answer === undefined || answer.status >= 300;
  if (key === undefined && (isError || !(hasSession(req) || write.isCut()))) return undefined;
  return allOf([onWrite(false), cache.invalidate({ groups: write.groups() })]);
};

/** Legacy's website logs people in by this cookie, and its interface then knows them. */
const hasSession = ({ headers }: IncomingMessage): boolean => /(?:^|[;\s])ci_session=[^;\s]/.test(headers.cookie ?? "");
