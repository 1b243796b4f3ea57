import { type Answered, groupList } from "../cache/reply.ts";
import { allOf } from "../../operation/limits/allOf.ts";
import type { Answer } from "../../catalogue/endpoint/answer.ts";
import type { Caller } from "../upstream/legacyClient.ts";
import { runStep } from "../../operation/telemetry/steps.ts";
import { type Backend, type EndpointRequest, uncached } from "./backend.ts";
import type { Services } from "./feature.ts";
import { fetchAnswer, type WriteFate } from "./legacyFetch.ts";
import { UNCONFIRMED_MS } from "./unconfirmedWrites.ts";

/** Answers by the legacy interface, from the cache where that is possible, unless it is to be `isUncached`. */
export const legacyBackend = (services: Services, isUncached = false): Backend =>
  async function askLegacy(request, caller) {
    const { endpoint, input, wanted, legacy } = request;
    if (endpoint.writes) return confirmWrite(services, request, caller, await fetchAnswer(services, request, caller));
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
