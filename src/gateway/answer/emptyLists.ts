import { type Endpoint, judgedStatus, type LegacyRequest, readLegacy } from "../../catalogue/index.ts";
import type { Fetched } from "../cache/cacheRequest.ts";
import type { Entry } from "../cache/entry.ts";
import { openSingleFlight } from "../cache/singleFlight.ts";
import type { Observer } from "../../operation/index.ts";
import { type LegacyClient, ownCaller } from "../upstream/legacyClient.ts";
import type { PreparedEndpoint } from "./prepared.ts";

/** Milliseconds for which a look at a shortest list is valid; `LOOK_TIMEOUT`: milliseconds that a look may take. */
const LOOK_EVERY = 1000;
const LOOK_TIMEOUT = 5000;
/**
 * Milliseconds for which a look without a row is remembered; `DOUBTED_FRESH`: for which "no results" is fresh then.
 */
const REMEMBERED = 60_000;
const DOUBTED_FRESH = 5000;

/** The list that was requested. `client`: the address of the client. */
type ListRequest = { endpoint: PreparedEndpoint; input: Record<string, unknown>; client?: string | undefined };

/** Judges a fetched answer: a list without rows may be wrong. `before`: the public entry that is stored. */
export type JudgeEmpty = (fetched: Fetched, request: ListRequest, before: Entry | undefined) => Promise<Fetched>;

/**
 * Opens the judge of empty lists. If a part of its database fails, legacy answers "no results". So if a list had rows
 * and is empty now, the gateway asks for the endpoint's shortest list, at most once a second. If that list has no row
 * either, the answer counts as a failure of legacy.
 */
export const openEmptyLists = (ask: LegacyClient, observer: Pick<Observer, "event">): JudgeEmpty => {
  const looking = openSingleFlight<boolean>(2 * LOOK_TIMEOUT);
  /** The result and time of each endpoint's last look. A list without filters also counts as a look. */
  const looks = new Map<string, { at: number; hasRow: boolean }>();
  const lastLook = (name: string, within: number): boolean | undefined => {
    const last = looks.get(name);
    return last !== undefined && performance.now() - last.at < within ? last.hasRow : undefined;
  };

  const look = async ({ name, readXml }: PreparedEndpoint, shortest: LegacyRequest, client?: string) => {
    // XML, because some texts break legacy's JSON. A document without rows is an error in either form.
    const reply = await ask(shortest, "xml", { ...ownCaller(LOOK_TIMEOUT), client });
    const isOwn = !("failed" in reply) && reply.judgement === "own" && reply.status === 200;
    const hasRow = isOwn && readLegacy(reply.body, readXml).is !== "error";
    looks.set(name, { at: performance.now(), hasRow });
    return hasRow;
  };

  const isBelieved = async ({ endpoint, input, client }: ListRequest, before: Entry): Promise<boolean> => {
    const { name } = endpoint;
    const shortest = shortestListOf(endpoint);
    if (isUnfiltered(endpoint, input)) {
      // After a write, lists of tags stay to be served if legacy fails, but the write may have removed the last tag.
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
    if (judgedStatus(fetched.answer) !== 404) return fetched;
    if (before?.status === 200 && !(await isBelieved(request, before))) {
      observer.event("empty_list", { endpoint: name });
      return { ...fetched, answer: { ...fetched.answer, judged: 503 } };
    }
    return lastLook(name, REMEMBERED) === false ? { ...fetched, freshAtMost: DOUBTED_FRESH } : fetched;
  };
};

/** True if an endpoint lists rows; the list may be empty. */
export const isListing = ({ input, shortestList }: Pick<Endpoint, "input" | "shortestList">): boolean =>
  shortestList !== undefined || Object.hasOwn(input, "limit");

/** The shortest list of an endpoint, which shows if legacy can list; `undefined` if the endpoint takes no limit. */
const shortestListOf = (endpoint: Endpoint): LegacyRequest | undefined => {
  const { shortestList } = endpoint;
  if (shortestList !== undefined || !isListing(endpoint)) return shortestList;
  const request = endpoint.legacy({ limit: 1 });
  return "unsent" in request ? undefined : request;
};

/** True if the input has no filter except a limit. The input of an old client has no defaults. */
const isUnfiltered = ({ input: fields }: Endpoint, input: Record<string, unknown>): boolean =>
  Object.entries(fields).every(
    ([name, { fallback }]) => name === "limit" || input[name] === undefined || input[name] === fallback?.value,
  );
