import type { Answer } from "../../catalogue/index.ts";
import { allOf, runStep } from "../../operation/index.ts";
import { groupList } from "../cache/reply.ts";
import { type Served, uncached } from "../cache/served.ts";
import { withoutClient } from "../upstream/legacyClient.ts";
import { authorize } from "./authorize.ts";
import type { Handler, Context } from "./context.ts";
import type { Core, WholeCore } from "./feature.ts";
import { fetchAnswer, type WriteFate } from "./legacyFetch.ts";
import { UNCONFIRMED_MS } from "./unconfirmedWrites.ts";

/** Answers by the legacy interface, from the cache where that is possible, unless it is to be `isUncached`. */
export const legacyBackend = (core: WholeCore, isUncached = false): Handler =>
  async function askLegacy(context) {
    const { endpoint, input, key, legacy, wanted, bypass } = context;
    if (endpoint.writes) return confirmWrite(core, context, await fetchAnswer(core, context));
    if ("unsent" in legacy)
      return uncached((await authorize(core, context)) ?? (await fetchAnswer(core, context)).answer);
    const cacheKey = bypass || isUncached ? undefined : endpoint.cacheKey?.(input);
    if (cacheKey === undefined) return uncached((await fetchAnswer(core, context)).answer, "bypass");
    const owner = key === undefined ? undefined : core.keys.ownerOf(key);
    const served = await runStep("cache", { endpoint: endpoint.name }, () =>
      core.cache.answer(
        { cacheKey, owner, wanted },
        async (forOwner, isBackground, before) => {
          const caller = isBackground ? withoutClient(context, core.totalTimeout) : context;
          const fetched = await fetchAnswer(core, forOwner === undefined ? { ...caller, key: undefined } : caller);
          return core.judgeEmpty(fetched, context, before);
        },
        () => authorize(core, context),
      ),
    );
    return { ...served, cacheKey };
  };

/**
 * The answer to a write that a backend has made. What the write may have touched is invalidated before the answer goes
 * out. Where the answer is lost, cached entries are served only while legacy fails. A write that was refused, or cannot
 * have been sent, changes nothing.
 */
export const confirmWrite = async (
  { hooks, cache, unconfirmed }: Pick<Core, "hooks" | "cache" | "unconfirmed">,
  { endpoint, input, key }: Pick<Context, "endpoint" | "input" | "key">,
  { answer, fate }: { answer: Answer; fate?: WriteFate },
): Promise<Served> => {
  const served = uncached(answer, "method");
  // Otherwise anybody could empty the cache.
  if (fate === "refused" || answer.status === 401 || answer.status === 403) return served;
  const touched = endpoint.writes?.(input) ?? { groups: [] };
  const { groups } = touched;
  const invalidate = (isLost: boolean): Promise<void> | undefined =>
    allOf([
      hooks.onWrite({ groups, isLost }),
      cache.invalidate(isLost ? { groups, soft: true, hold: UNCONFIRMED_MS } : touched),
    ]);
  await (fate === "unknown" ? unconfirmed.note(key, () => invalidate(true)) : invalidate(false));
  return answer.status === 200 ? { ...served, headers: ["Cache-Group-Invalidation", groupList(groups)] } : served;
};
