import type { Endpoint, LegacyRequest } from "../../catalogue/index.ts";
import type { Fetched } from "../cache/cacheRequest.ts";
import type { Entry } from "../cache/entry.ts";
import { openSingleFlight } from "../cache/singleFlight.ts";
import type { Observer } from "../../operation/index.ts";
import { type LegacyClient, ownCaller } from "../upstream/legacyClient.ts";
import type { PreparedEndpoint } from "./prepared.ts";

/** Milliseconds for which a look at a shortest list answers for others, and at most until it is over. */
const LOOK_EVERY = 1000;
const LOOK_TIMEOUT = 5000;
/**
 * Milliseconds for which it is remembered that legacy can list nothing, and for which "no results" is fresh meanwhile.
 */
const REMEMBERED = 60_000;
const DOUBTED_FRESH = 5000;

/** What was asked for. `client`: the address for whom. */
type ListRequest = { endpoint: PreparedEndpoint; input: Record<string, unknown>; client?: string | undefined };

/** Judges what was fetched: a list without rows may not be believed. `before`: the public entry that is stored. */
export type JudgeEmpty = (fetched: Fetched, request: ListRequest, before: Entry | undefined) => Promise<Fetched>;

/**
 * Where a part of its database fails, legacy says "no results". A list that had rows and has none is believed only if
 * the endpoint's shortest list has a row, for which legacy is asked once a second at most. Otherwise the answer
 * counts as legacy's failure.
 */
export const openEmptyLists = (ask: LegacyClient, observer: Pick<Observer, "event">): JudgeEmpty => {
  const looking = openSingleFlight<boolean>(2 * LOOK_TIMEOUT);
  /** What the last look of each endpoint found, and when. A list without filters is such a look, too. */
  const looks = new Map<string, { at: number; hasRow: boolean }>();
  const lastLook = (name: string, within: number): boolean | undefined => {
    const last = looks.get(name);
    return last !== undefined && performance.now() - last.at < within ? last.hasRow : undefined;
  };

  const look = async ({ name, readXml }: PreparedEndpoint, shortest: LegacyRequest, client?: string) => {
    // Some texts break legacy's JSON; a document without rows is an error in either form.
    const reply = await ask(shortest, "xml", { ...ownCaller(LOOK_TIMEOUT), client }, readXml);
    const isOwn = !("failed" in reply) && reply.judgement === "own" && reply.status === 200;
    const hasRow = isOwn && reply.reading.is !== "error";
    looks.set(name, { at: performance.now(), hasRow });
    return hasRow;
  };

  const isBelieved = async ({ endpoint, input, client }: ListRequest, before: Entry): Promise<boolean> => {
    const { name } = endpoint;
    const shortest = shortestListOf(endpoint);
    if (isUnfiltered(endpoint, input)) {
      // A write leaves lists of tags for legacy's failure, and may have removed the last tag.
      if (shortest === undefined && before.isOutdated === true) return true;
      looks.set(name, { at: performance.now(), hasRow: false });
      return false;
    }
    if (shortest === undefined) return true;
    const known = lastLook(name, LOOK_EVERY);
    return known ?? looking.get(name) ?? looking.launch(name, look(endpoint, shortest, client));
  };

  return async (fetched, request, before) => {
    const { name } = request.endpoint;
    if ((fetched.judged ?? fetched.answer.status) !== 404) return fetched;
    if (before?.status === 200 && !(await isBelieved(request, before))) {
      observer.event("empty_list", { endpoint: name });
      return { ...fetched, judged: 503 };
    }
    return lastLook(name, REMEMBERED) === false ? { ...fetched, freshAtMost: DOUBTED_FRESH } : fetched;
  };
};

/** Whether an endpoint lists rows, of which there may be none. */
export const isListing = ({ input, shortestList }: Pick<Endpoint, "input" | "shortestList">): boolean =>
  shortestList !== undefined || Object.hasOwn(input, "limit");

/** The list by which an endpoint shows that legacy can list; `undefined` where it takes no limit. */
const shortestListOf = (endpoint: Endpoint): LegacyRequest | undefined => {
  const { shortestList } = endpoint;
  if (shortestList !== undefined || !isListing(endpoint)) return shortestList;
  const request = endpoint.legacy({ limit: 1 });
  return "unsent" in request ? undefined : request;
};

/** Whether the input chooses no rows but by a limit. An old client's has no defaults. */
const isUnfiltered = ({ input: fields }: Endpoint, input: Record<string, unknown>): boolean =>
  Object.entries(fields).every(
    ([name, { fallback }]) => name === "limit" || input[name] === undefined || input[name] === fallback?.value,
  );
