import {
  bytesOf,
  type Caller,
  type Context,
  type Core,
  type Fetched,
  freshOnly,
  type PreparedEndpoint,
  type Served,
  uncached,
  withoutClient,
} from "../../src/gateway/index.ts";
import { answerOf, type Outcome } from "../../src/catalogue/index.ts";
import { idOfKey } from "../../src/operation/index.ts";
import { LegacyFailure } from "./askLegacy.ts";

type Input = Record<string, unknown>;

/** The cache group of whole lists, which pages are cut from. */
export const PRIVATE_GROUP = "private-dataset";
/** More rows than any list has. */
const MAX_ROWS = 1_000_000;
/** The input of a whole list: its filters, and all of its rows. */
const wholeOf = (input: Input) => ({ ...input, offset: 0, limit: MAX_ROWS });

/** The parts of the core that lists use. */
export type ListParts = Pick<
  Core,
  "authorize" | "cache" | "errors" | "fetchAnswer" | "fetchReadable" | "judgeEmpty" | "meter" | "totalTimeout"
>;

const doubted: Outcome = { kind: "unavailable", message: "The list is empty, and was not." };

/** Requests a whole list once: by the endpoint's rules, each row a line; 200 without a line for an empty list. */
const fetchWhole = async (
  core: Pick<Core, "fetchAnswer">,
  endpoint: PreparedEndpoint,
  input: Input,
  caller: Caller,
): Promise<Fetched["answer"]> => {
  const asked = { ...caller, endpoint, input, legacy: endpoint.legacy(input) };
  const { answer, outcome } = await core.fetchAnswer(asked, "lines");
  return outcome?.kind === "notFound" ? { status: 200, body: "" } : answer;
};

/**
 * The ids of all datasets that legacy lists to a caller without a key.
 *
 * @throws A `LegacyFailure` if legacy does not give the list.
 */
export const fetchListedIds = async (
  core: Pick<Core, "fetchAnswer">,
  endpoint: PreparedEndpoint,
  caller: Caller,
): Promise<number[]> => {
  // Legacy escapes names only in XML.
  const xml = { ...endpoint, format: "xml" as const };
  const { status, body } = await fetchWhole(core, xml, wholeOf({ status: "all" }), caller);
  if (status !== 200) throw new LegacyFailure(`the public list is ${status}`);
  return idsInText(bytesOf(body).toString("latin1"));
};

/**
 * Gives legacy's whole list for a caller with a key, each row a line; 503 for an empty list that is not
 * believed. It is cached for its minute, until `version` changes. `isBypass`: it is not cached.
 */
export const wholeLists =
  (core: ListParts, endpoint: PreparedEndpoint, version: () => number) =>
  async (
    filters: Input,
    wanted: Context["wanted"],
    caller: Caller & { key: string },
    isBypass = false,
  ): Promise<Served> => {
    const input = wholeOf(filters);
    // Half of the time: if legacy cannot give the whole list, it is asked for its page of it.
    // No client gets the whole list: it is not refused because of the bytes that wait for clients.
    const by = withoutClient(caller, (caller.deadline - performance.now()) / 2);
    const fetch = async (): Promise<Fetched> => {
      const answer = await fetchWhole(core, endpoint, input, by);
      const fetched = { answer, groups: [...(endpoint.cache?.groups(input) ?? []), PRIVATE_GROUP] };
      if (answer.status !== 200 || bytesOf(answer.body).length > 0) return fetched;
      const cacheKey = endpoint.cacheKey?.(filters);
      const stored = cacheKey && core.cache.lookUp({ cacheKey, owner: undefined, wanted: {} }, performance.now());
      const asked = { endpoint, input: filters, client: caller.client };
      const empty = { ...fetched, answer: { ...fetched.answer, judged: 404 } };
      const judged = await core.judgeEmpty(empty, asked, stored?.entry);
      return judged.answer.judged === 503 ? { ...fetched, answer: answerOf(doubted) } : fetched;
    };
    const page = isBypass ? undefined : endpoint.cacheKey?.(input);
    if (page === undefined) return uncached((await fetch()).answer, "bypass");
    const cacheKey = { ...page, key: `${page.key} whole ${version()}`, lifetimesOf: freshOnly(page.lifetimesOf) };
    const owner = idOfKey(caller.key);
    return core.cache.answer({ cacheKey, owner, wanted }, fetch, () => core.authorize({ ...caller, endpoint }));
  };

/** The rows of a whole list by id. */
export const rowsById = (lines: Buffer): Map<number, Buffer> => {
  const rows = new Map<number, Buffer>();
  for (let start = 0; start < lines.length;) {
    const newline = lines.indexOf(10, start);
    const end = newline === -1 ? lines.length : newline;
    const [id = Number.NaN] = idsInText(lines.toString("latin1", start, Math.min(end, start + 24)));
    rows.set(id, lines.subarray(start, end));
    start = end + 1;
  }
  return rows;
};

/** The ids in the beginning, or in all, of a list of ours. No text can contain such an id: its quotes are escaped. */
export const idsInText = (list: string): number[] => Array.from(list.matchAll(/"did":(\d+)/g), ([, id]) => Number(id));
