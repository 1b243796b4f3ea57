import type { Fetched } from "../cache/cacheRequest.ts";
import { type Answer, answerOf } from "../endpoint/answer.ts";
import type { LegacyRequest } from "../endpoint/legacyRequest.ts";
import type { Outcome } from "../endpoint/outcome.ts";
import type { Caller } from "../legacy/client.ts";
import { runStep } from "../telemetry/steps.ts";
import { type Backend, type EndpointRequest, uncached } from "./backend.ts";
import { fetchAnswer, type LegacyResult, type Unanswered } from "./legacyFetch.ts";
import type { PreparedEndpoint } from "./prepared.ts";
import type { Services } from "./feature.ts";
import { confirmWrite, refusedAccess } from "./writes.ts";

/** A missing or wrong key. */
export const unauthenticated: Outcome = { kind: "unauthenticated", code: "103", message: "Authentication failed" };

/** An answer, the groups that it belongs to, and of a write without an answer of legacy's own whether it may have been carried out. */
export type FetchedAnswer = Fetched & { unanswered?: Unanswered };

/** Answers by the legacy interface, from the cache where that is possible. */
export const legacyBackend = (services: Services): Backend =>
  async function askLegacy(request, caller) {
    const { endpoint, input, wanted, legacy } = request;
    if (endpoint.writes) {
      const refusal = await refusedAccess(services, endpoint, input, caller);
      if (refusal) return { answered: uncached(refusal, "method") };
      return {
        answered: await confirmWrite(services, request, caller, await fetchFromLegacy(services, request, caller)),
      };
    }
    if ("unsent" in legacy)
      return {
        answered: uncached((await caller.authorize()) ?? (await fetchFromLegacy(services, request, caller)).answer),
      };
    const cacheKey = request.bypass ? undefined : endpoint.cacheKey?.(input);
    if (cacheKey === undefined)
      return { answered: uncached((await fetchFromLegacy(services, request, caller)).answer, "bypass") };
    const owner = caller.key === undefined ? undefined : services.keys.ownerOf(caller.key);
    const answered = await runStep("cache", { endpoint: endpoint.name }, () =>
      services.cache.answer(
        { cacheKey, owner, wanted },
        (as, isBackground) => {
          const by = isBackground ? caller.background() : caller;
          return fetchFromLegacy(services, request, as === undefined ? { ...by, key: undefined } : by);
        },
        caller.authorize,
      ),
    );
    return { answered, cacheKey };
  };

/** Legacy's answer to one request, through the rules of its endpoint. */
const fetchFromLegacy = async (
  services: Services,
  { endpoint, input, legacy }: Pick<EndpointRequest, "endpoint" | "input" | "legacy">,
  caller: Caller,
): Promise<FetchedAnswer> => {
  if ("unsent" in legacy)
    return { answer: answerOf({ kind: "broken", message: legacy.unsent }), groups: [], unanswered: "refused" };
  const started = performance.now();
  const byPost = legacy.method === "POST" && endpoint.writes === undefined;
  const result = await (byPost ? fetchByPost : fetchAnswer)(services, endpoint, legacy, caller, input);
  const answer = answerFrom(result);
  // Only the excerpt of the document is at hand here: a large one is made in another thread.
  const ours = "written" in result ? result.written.excerpt : undefined;
  services.hooks.onLegacyAnswer({ endpoint: endpoint.name, ms: performance.now() - started, status: answer.status });
  const groups = endpoint.cache?.groups(input, ours) ?? [];
  if (!("outcome" in result) || result.unanswered === undefined) return { answer, groups };
  const { unanswered, isForOne } = result;
  return { answer, groups, unanswered, ...(isForOne ? { isForOne } : {}) };
};

/** What came of asking legacy, as it is answered. */
export const answerFrom = (result: LegacyResult): Answer => {
  if ("outcome" in result) return answerOf(result.outcome, result.status);
  const { body, tag } = result.written;
  return { status: 200, body, ...(tag === undefined ? {} : { tag }) };
};

/** Legacy answers some reads only by POST, and a POST only with a key that may write: the caller's, else the gateway's own. */
const fetchByPost = async (
  services: Services,
  endpoint: PreparedEndpoint,
  request: LegacyRequest,
  caller: Caller,
  input: Record<string, unknown>,
): Promise<LegacyResult> => {
  const refuse = (why: string): LegacyResult => ({ outcome: { ...unauthenticated, additional: why } });
  const key = caller.key ?? services.serviceKey;
  if (key === undefined) return refuse("The legacy interface answers this only with a key.");
  const result = await fetchAnswer(services, endpoint, request, { ...caller, key }, input);
  const kind = "outcome" in result ? result.outcome.kind : undefined;
  if (kind !== "forbidden" && kind !== "unauthenticated") return result;
  if (caller.key === undefined) {
    services.observer.event("service_key_refused", { endpoint: endpoint.name });
    return refuse("The legacy interface answers this only with a key, and refused the gateway's own.");
  }
  return kind === "forbidden" ? refuse("The legacy interface answers this only with a key that may write.") : result;
};
