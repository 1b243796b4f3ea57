import { idOfKey, runStep } from "../../operation/index.ts";
import { uncached } from "../cache/served.ts";
import { withoutClient } from "../upstream/legacyClient.ts";
import type { Handler } from "./context.ts";
import type { WholeCore } from "./core.ts";
import type { Writes } from "./writes.ts";

/** Answers by the legacy interface, from the cache where that is possible, unless it is to be `isUncached`. */
export const legacyBackend = (core: WholeCore, writes: Writes, isUncached = false): Handler =>
  async function askLegacy(context) {
    const { endpoint, input, key, legacy, wanted, bypass } = context;
    if (endpoint.writes) return writes.confirm(context, await core.fetchAnswer(context));
    if ("unsent" in legacy)
      return uncached((await core.authorize(context)) ?? (await core.fetchAnswer(context)).answer);
    const cacheKey = bypass || isUncached ? undefined : endpoint.cacheKey?.(input);
    if (cacheKey === undefined) return uncached((await core.fetchAnswer(context)).answer, "bypass");
    const owner = key === undefined ? undefined : idOfKey(key);
    /** The public answer that is stored. */
    const findPublic = () => core.cache.lookUp({ cacheKey, owner: undefined, wanted: {} }, performance.now())?.entry;
    const served = await runStep("cache", { endpoint: endpoint.name }, () =>
      core.cache.answer(
        { cacheKey, owner, wanted },
        async (forOwner, isBackground, before) => {
          const caller = isBackground ? withoutClient(context, core.totalTimeout) : context;
          const fetched = await core.fetchAnswer(forOwner === undefined ? { ...caller, key: undefined } : caller);
          return core.judgeEmpty(fetched, context, forOwner !== undefined && cacheKey.personal ? findPublic() : before);
        },
        () => core.authorize(context),
      ),
    );
    // Legacy cannot list: to a key, for which it said so, it has no fewer rows than to the public.
    const isDoubted = owner !== undefined && served.answer.status === 404 && served.answer.judged === 503;
    const entry = isDoubted ? findPublic() : undefined;
    if (entry?.status !== 200) return { ...served, cacheKey };
    return { answer: entry, entry, how: { fwd: "stale", detail: "stale-if-error" }, cacheKey };
  };
