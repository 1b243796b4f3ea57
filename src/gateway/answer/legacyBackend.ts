import { allOf, runStep } from "../../operation/index.ts";
import { groupList } from "../cache/reply.ts";
import { uncached } from "../cache/served.ts";
import { withoutClient } from "../upstream/legacyClient.ts";
import type { Handler } from "./context.ts";
import type { WholeCore } from "./feature.ts";
import type { AnswerFunctions } from "./answerFunctions.ts";
import { UNCONFIRMED_MS } from "./unconfirmedWrites.ts";

/** Answers by the legacy interface, from the cache where that is possible, unless it is to be `isUncached`. */
export const legacyBackend = (core: WholeCore, isUncached = false): Handler =>
  async function askLegacy(context) {
    const { endpoint, input, key, legacy, wanted, bypass } = context;
    if (endpoint.writes) return core.confirmWrite(context, await core.fetchAnswer(context));
    if ("unsent" in legacy)
      return uncached((await core.authorize(context)) ?? (await core.fetchAnswer(context)).answer);
    const cacheKey = bypass || isUncached ? undefined : endpoint.cacheKey?.(input);
    if (cacheKey === undefined) return uncached((await core.fetchAnswer(context)).answer, "bypass");
    const owner = key === undefined ? undefined : core.keys.ownerOf(key);
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
    const isDoubted = owner !== undefined && served.answer.status === 404 && served.judged === 503;
    const entry = isDoubted ? findPublic() : undefined;
    if (entry?.status !== 200) return { ...served, cacheKey };
    return { answer: entry, entry, how: { fwd: "stale", detail: "stale-if-error" }, cacheKey };
  };

/** Makes `confirmWrite` of the core. */
export const openConfirmWrite =
  ({
    hooks,
    cache,
    unconfirmed,
  }: Pick<WholeCore, "hooks" | "cache" | "unconfirmed">): AnswerFunctions["confirmWrite"] =>
  async ({ endpoint, input, key }, { answer, fate }) => {
    const served = uncached(answer, "method");
    // Otherwise anybody could empty the cache.
    if (fate === "refused" || answer.status === 401 || answer.status === 403) return served;
    const touched = endpoint.writes?.(input) ?? { groups: [] };
    const { groups } = touched;
    const invalidate = (isLost: boolean): Promise<void> | undefined =>
      allOf([
        hooks.onWrite(isLost ? { groups, hold: UNCONFIRMED_MS } : { groups }),
        cache.invalidate(isLost ? { groups, soft: true, hold: UNCONFIRMED_MS } : touched),
      ]);
    await (fate === "unknown" ? unconfirmed.note(key, () => invalidate(true)) : invalidate(false));
    return answer.status === 200 ? { ...served, headers: ["Cache-Group-Invalidation", groupList(groups)] } : served;
  };
