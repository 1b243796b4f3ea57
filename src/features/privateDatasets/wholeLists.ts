import type { CacheKey, Directives, Fetched } from "../../cache/cacheRequest.ts";
import { freshOnly } from "../../cache/policy.ts";
import { type Answered, bytesOf } from "../../cache/reply.ts";
import type { Caller } from "../../legacy/client.ts";
import { uncached } from "../../serve/backend.ts";
import { fetchAnswer } from "../../serve/legacyFetch.ts";
import type { PreparedEndpoint } from "../../serve/prepared.ts";
import type { Services } from "../../serve/feature.ts";
import { allDatasets, idsInText, PRIVATE_GROUP, wholeOf } from "./datasets.ts";

type Input = Record<string, unknown>;

/** One request for a whole list: by the endpoint's rules, each row a line; 200 with no line for an empty list. */
const fetchWhole = async (
  services: Services,
  endpoint: PreparedEndpoint,
  input: Input,
  caller: Caller,
): Promise<Fetched["answer"]> => {
  const request = { endpoint, input, legacy: endpoint.legacy(input) };
  const { answer, outcome } = await fetchAnswer(services, request, caller, "lines");
  return outcome?.kind === "notFound" ? { status: 200, body: "" } : answer;
};

/** The ids of all datasets that legacy lists to a caller without a key, as text; or how legacy failed. */
export const fetchListedIds = async (services: Services, endpoint: PreparedEndpoint, caller: Caller) => {
  // Legacy escapes names in XML only.
  const { status, body } = await fetchWhole(services, { ...endpoint, format: "xml" }, allDatasets, caller);
  return status === 200
    ? { status, body: JSON.stringify(idsInText(bytesOf(body).toString("latin1"))) }
    : { status, body };
};

/** Reads whole lists through the cache: each is fresh for its minute. A list that changes with `version` has a key of its own. */
export const openWholeLists = (services: Services, endpoint: PreparedEndpoint, version: () => number) => {
  const groupsOf = (input: Input) => [...(endpoint.cache?.groups(input) ?? []), PRIVATE_GROUP];
  const keyOf = (input: Input, variant: string): CacheKey | undefined => {
    const cacheKey = endpoint.cacheKey?.(input);
    return cacheKey && { ...cacheKey, key: `${cacheKey.key} ${variant}`, lifetimesOf: freshOnly(cacheKey.lifetimesOf) };
  };
  return {
    /** The whole list that legacy has for a caller with a key, each row a line. `isBypass`: neither from the cache nor stored. */
    async whole(
      filters: Input,
      wanted: Directives,
      caller: Caller & { key: string; authorize: () => Promise<Fetched["answer"] | undefined> },
      isBypass: boolean,
    ): Promise<Answered> {
      const input = wholeOf(filters);
      // Half of the time: where legacy cannot give the whole list, it is asked for its own page.
      const by = { ...caller, deadline: (Date.now() + caller.deadline) / 2 };
      const fetch = async (): Promise<Fetched> => ({
        answer: await fetchWhole(services, endpoint, input, by),
        groups: groupsOf(input),
      });
      const cacheKey = isBypass ? undefined : keyOf(input, `whole ${version()}`);
      if (cacheKey === undefined) return uncached((await fetch()).answer, "bypass");
      const owner = services.keys.ownerOf(caller.key);
      return services.cache.answer({ cacheKey, owner, wanted }, fetch, caller.authorize);
    },
    /** The ids of the public list, the same for all callers; `undefined`: legacy does not say. */
    async publicIds(deadline: number): Promise<ReadonlySet<number> | undefined> {
      const fetch = async (): Promise<Fetched> => ({
        answer: await fetchListedIds(services, endpoint, { headers: ["user-agent", "catalog-gateway"], deadline }),
        groups: groupsOf(allDatasets),
      });
      const cacheKey = keyOf(allDatasets, "public ids");
      if (cacheKey === undefined) return undefined;
      const request = { cacheKey, owner: undefined, wanted: {} };
      const answered = await services.cache.answer(request, fetch, () => Promise.resolve(undefined));
      const { status, body } = "entry" in answered ? answered.entry : answered.representation;
      return status === 200 ? new Set(JSON.parse(body.toString()) as number[]) : undefined;
    },
  };
};
