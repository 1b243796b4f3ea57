import { runStep } from "../telemetry/steps.ts";
import { type Backend, uncached } from "./backend.ts";
import type { Services } from "./feature.ts";
import { fetchAnswer } from "./legacyFetch.ts";
import { confirmWrite, refusedAccess } from "./writes.ts";

/** Answers by the legacy interface, from the cache where that is possible. */
export const legacyBackend = (services: Services): Backend =>
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
    const cacheKey = request.bypass ? undefined : endpoint.cacheKey?.(input);
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
