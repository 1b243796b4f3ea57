import { type Answered, groupList } from "../cache/reply.ts";
import { allOf } from "../concurrency/allOf.ts";
import { type Answer, answerOf } from "../endpoint/answer.ts";
import type { OutcomeKind } from "../endpoint/outcome.ts";
import type { Caller } from "../legacy/client.ts";
import { outcomeOf } from "../legacy/reading.ts";
import { runStep } from "../telemetry/steps.ts";
import { type Backend, type EndpointRequest, uncached } from "./backend.ts";
import type { Services } from "./feature.ts";
import { fetchAnswer, fetchReadable, noAnswer, type WriteFate } from "./legacyFetch.ts";
import type { PreparedEndpoint } from "./prepared.ts";
import { UNCONFIRMED_MS } from "./unconfirmedWrites.ts";

/** Answers by the legacy interface, from the cache where that is possible, unless it is to be `isUncached`. */
export const legacyBackend = (services: Services, isUncached = false): Backend =>
  async function askLegacy(request, caller) {
    const { endpoint, input, wanted, legacy } = request;
    if (endpoint.writes) {
      const refusal = await refusedAccess(services, endpoint, input, caller);
      if (refusal) return uncached(refusal, "method");
      return confirmWrite(services, request, caller, await fetchAnswer(services, request, caller));
    }
    if ("unsent" in legacy) {
      const refusal = await caller.authorize();
      return uncached(refusal ?? (await fetchAnswer(services, request, caller)).answer);
    }
    const cacheKey = request.bypass || isUncached ? undefined : endpoint.cacheKey?.(input);
    if (cacheKey === undefined) return uncached((await fetchAnswer(services, request, caller)).answer, "bypass");
    const owner = caller.key === undefined ? undefined : services.keys.ownerOf(caller.key);
    const answered = await runStep("cache", { endpoint: endpoint.name }, () =>
      services.cache.answer(
        { cacheKey, owner, wanted },
        (as, isBackground) => {
          const by = isBackground ? caller.background() : caller;
          return fetchAnswer(services, request, as === undefined ? { ...by, key: undefined } : by);
        },
        caller.authorize,
      ),
    );
    return { ...answered, cacheKey };
  };

/**
 * The answer to a write that a backend has made. What the write may have touched is invalidated before the answer goes out. Where the
 * answer is lost, cached entries are served only while legacy fails. A write that was refused, or cannot have been sent, changes nothing.
 */
export const confirmWrite = async (
  services: Services,
  { endpoint, input }: Pick<EndpointRequest, "endpoint" | "input">,
  caller: Caller,
  { answer, fate }: { answer: Answer; fate?: WriteFate },
): Promise<Answered> => {
  const answered = uncached(answer, "method");
  // Otherwise anybody could empty the cache.
  if (fate === "refused" || answer.status === 401 || answer.status === 403) return answered;
  const groups = endpoint.writes?.(input) ?? [];
  const invalidate = (isLost: boolean): Promise<void> | undefined =>
    allOf([
      services.hooks.onWrite({ groups, isLost }),
      services.cache.invalidate({ groups, ...(isLost ? { soft: true, hold: UNCONFIRMED_MS } : {}) }),
    ]);
  await (fate === "unknown" ? services.unconfirmed.note(caller.key, () => invalidate(true)) : invalidate(false));
  return answer.status === 200 ? { ...answered, headers: ["Cache-Group-Invalidation", groupList(groups)] } : answered;
};

/** An answer that is cached for a caller shows for so many milliseconds what the caller may read. */
const MAX_AGE_OF_ACCESS = 60_000;

/** Results of a read that leave the write to legacy: access is granted, or what is written cannot be private. */
const passes: ReadonlySet<OutcomeKind> = new Set(["notFound", "badState", "refused", "gone", "conflict"]);

/**
 * Reads what a write is about with the caller's key, where the endpoint says that legacy itself does not check access. The result is the
 * refusal, or the failure to find out; `undefined` where the write may be sent.
 */
const refusedAccess = async (
  services: Services,
  { mustRead }: PreparedEndpoint,
  input: Record<string, unknown>,
  caller: Caller,
): Promise<Answer | undefined> => {
  if (mustRead === undefined) return undefined;
  const { endpoint } = mustRead;
  const readInput = mustRead.inputOf(input);
  if (isCachedFor(services, endpoint, readInput, caller.key)) return undefined;
  const request = endpoint.legacy(readInput);
  if ("unsent" in request) return answerOf({ kind: "broken", message: request.unsent });
  const reply = await fetchReadable(services, endpoint, request, caller);
  if ("failed" in reply) return answerOf(reply.failed);
  const { reading, status } = reply;
  if (reading.is === "document" && status === 200) return undefined;
  if (reading.is !== "error") return answerOf(noAnswer);
  const outcome = endpoint.errors?.[reading.code] ?? outcomeOf(reading, services.errors);
  return passes.has(outcome.kind) ? undefined : answerOf(outcome);
};

/** Whether the cache has the document, no older than a minute, in an answer that this caller may see. */
const isCachedFor = (
  { keys, cache }: Services,
  { cacheKey }: PreparedEndpoint,
  input: Record<string, unknown>,
  key: string | undefined,
): boolean => {
  const owner = key === undefined ? undefined : keys.ownerOf(key);
  if (cacheKey === undefined || owner === undefined || !keys.isProven(owner)) return false;
  const request = { cacheKey: cacheKey(input), owner, wanted: { maxAge: MAX_AGE_OF_ACCESS } };
  const found = cache.lookUp(request, Date.now());
  return found?.freshness === "fresh" && found.entry.status === 200;
};
