import type { Directives, Fetched } from "../../gateway/cache/cacheRequest.ts";
import { freshOnly } from "../../gateway/cache/policy.ts";
import { type Answered, bytesOf } from "../../gateway/cache/reply.ts";
import type { Caller } from "../../gateway/upstream/legacyClient.ts";
import { uncached } from "../../gateway/answer/backend.ts";
import { fetchAnswer } from "../../gateway/answer/legacyFetch.ts";
import type { PreparedEndpoint } from "../../gateway/answer/prepared.ts";
import type { Services } from "../../gateway/answer/feature.ts";
import { LegacyFailure } from "./askLegacy.ts";

type Input = Record<string, unknown>;

/** The cache group of whole lists, which pages are cut from. */
export const PRIVATE_GROUP = "private-dataset";
/** More rows than any list has. */
const MAX_ROWS = 1_000_000;
/** The input of a whole list: its filters, and all of its rows. */
const wholeOf = (input: Input) => ({ ...input, offset: 0, limit: MAX_ROWS });

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

/** The ids of all datasets that legacy lists to a caller without a key. Rejects with a `LegacyFailure`. */
export const fetchListedIds = async (
  services: Services,
  endpoint: PreparedEndpoint,
  caller: Caller,
): Promise<number[]> => {
  // Legacy escapes names in XML only.
  const xml = { ...endpoint, format: "xml" as const };
  const { status, body } = await fetchWhole(services, xml, wholeOf({ status: "all" }), caller);
  if (status !== 200) throw new LegacyFailure(`the public list is ${status}`);
  return idsInText(bytesOf(body).toString("latin1"));
};

/**
 * Gives the whole list that legacy has for a caller with a key, each row a line. It is cached for its minute, until `version` changes.
 * `isBypass`: neither from the cache nor stored.
 */
export const wholeLists =
  (services: Services, endpoint: PreparedEndpoint, version: () => number) =>
  async (
    filters: Input,
    wanted: Directives,
    caller: Caller & { key: string; authorize: () => Promise<Fetched["answer"] | undefined> },
    isBypass = false,
  ): Promise<Answered> => {
    const input = wholeOf(filters);
    // Half of the time: where legacy cannot give the whole list, it is asked for its own page.
    // No client is sent the whole list: how much waits for clients is no reason to refuse it.
    const by = { ...caller, deadline: (performance.now() + caller.deadline) / 2, holding: undefined };
    const fetch = async (): Promise<Fetched> => ({
      answer: await fetchWhole(services, endpoint, input, by),
      groups: [...(endpoint.cache?.groups(input) ?? []), PRIVATE_GROUP],
    });
    const page = isBypass ? undefined : endpoint.cacheKey?.(input);
    if (page === undefined) return uncached((await fetch()).answer, "bypass");
    const cacheKey = { ...page, key: `${page.key} whole ${version()}`, lifetimesOf: freshOnly(page.lifetimesOf) };
    const owner = services.keys.ownerOf(caller.key);
    return services.cache.answer({ cacheKey, owner, wanted }, fetch, caller.authorize);
  };

/** The rows of a whole list by id. */
export const rowsById = (lines: Buffer): Map<number, Buffer> => {
  const rows = new Map<number, Buffer>();
  for (let start = 0; start < lines.length;) {
    const found = lines.indexOf(10, start);
    const end = found === -1 ? lines.length : found;
    const [id = Number.NaN] = idsInText(lines.toString("latin1", start, Math.min(end, start + 24)));
    rows.set(id, lines.subarray(start, end));
    start = end + 1;
  }
  return rows;
};

/** The ids in the beginning, or in all, of a list of ours. No text can hold one: its quotes are escaped. */
export const idsInText = (list: string): number[] => Array.from(list.matchAll(/"did":(\d+)/g), ([, id]) => Number(id));
