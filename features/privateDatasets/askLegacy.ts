import { LRUCache } from "lru-cache";
import { monotonic, withTimeout } from "../../src/operation/index.ts";
import {
  type JsonObject,
  type LegacyRequest,
  type Outcome,
  outcomeOf,
  type RowById,
} from "../../src/catalogue/index.ts";
import type { Caller, Core } from "../../src/gateway/index.ts";

/** The endpoint whose lists lack private datasets. */
export const LIST_ENDPOINT = "listDatasets";

/** Legacy gave no answer. `isRefused`: it does not know the key, or not as an administrator's. */
export class LegacyFailure extends Error {
  readonly isRefused: boolean;
  constructor(why: string, isRefused = false) {
    super(why);
    this.isRefused = isRefused;
  }
}

/** Legacy's answer: a document, or an error. Only the code decides what an error means. */
type LegacyDocument = { document: JsonObject } | { document?: undefined; code: number; kind: Outcome["kind"] };

/**
 * Asks legacy with one key.
 *
 * @throws A `LegacyFailure` if legacy gives no answer, or refuses the key.
 */
export type AskLegacy = (request: LegacyRequest) => Promise<LegacyDocument>;

type LegacyParts = Pick<Core, "fetchReadable" | "errors">;

/** Asks legacy on behalf of a caller. */
export const askAs =
  (core: LegacyParts, caller: Caller): AskLegacy =>
  async (request) => {
    const reply = await core
      .fetchReadable({ ...caller, endpoint: { name: LIST_ENDPOINT } }, request)
      .catch((error: Error) => ({ why: error.message }));
    if ("why" in reply) throw new LegacyFailure(reply.why);
    const { reading, status } = reply;
    if (reading.is === "unreadable") throw new LegacyFailure(reading.why);
    if (reading.is === "document") {
      if (status !== 200) throw new LegacyFailure(`it answered with status ${status}`);
      return { document: reading.document };
    }
    const { kind } = outcomeOf(reading, core.errors);
    if (kind === "unauthenticated") throw new LegacyFailure("legacy does not know the key", true);
    if (kind === "unavailable") throw new LegacyFailure(reading.message);
    return { code: reading.code, kind };
  };

/**
 * Legacy checks rights before the filter, which is illegal: administrators get 1011, other callers 106. No query runs.
 */
const adminProbe: LegacyRequest = { method: "GET", path: "/evaluation/request/1/normal/1/none/0" };

/**
 * True if the key is an administrator's.
 *
 * @throws A `LegacyFailure` if the answer does not show it.
 */
export const isAdministrators = async (ask: AskLegacy): Promise<boolean> => {
  const answer = await ask(adminProbe);
  if (answer.document !== undefined) throw new LegacyFailure("it answered with something else");
  if (answer.code !== 1011 && answer.code !== 106) throw new LegacyFailure(`it answered with code ${answer.code}`);
  return answer.code === 1011;
};

/**
 * The status of a key. `refused`: legacy does not know it. `unknown`: no answer in time, or its code is not known.
 */
type AdminStatus = "administrator" | "other" | "refused" | "unknown";

/** A caller with a key. `owner`: the id of the key. `ask` asks legacy with it. */
type ProbedCaller = { owner: string; ask: AskLegacy };

/** The cached statuses of callers. */
export type AdminStatuses = ReturnType<typeof openAdminStatuses>;

/** Milliseconds for which a status is valid, from when the probe was sent. */
const TTL = 60_000;
const MAX_OWNERS = 10_000;

/** Asks legacy whether callers are administrators: one request for each key and minute. */
export const openAdminStatuses = () => {
  const statuses = new LRUCache<string, Promise<AdminStatus>>({ max: MAX_OWNERS, ttl: TTL, perf: monotonic });
  const launch = ({ owner, ask }: ProbedCaller): Promise<AdminStatus> => {
    const status = isAdministrators(ask).then(
      (isOne) => (isOne ? "administrator" : "other"),
      ({ isRefused }: LegacyFailure) => {
        // Not cached: the next request probes again.
        if (statuses.peek(owner) === status) statuses.delete(owner);
        return isRefused ? "refused" : "unknown";
      },
    );
    statuses.set(owner, status);
    return status;
  };
  return {
    /** Waits `patience` milliseconds at most. A later answer is cached for the next request. */
    async of(caller: ProbedCaller, patience: number): Promise<AdminStatus> {
      const status = await withTimeout(statuses.get(caller.owner) ?? launch(caller), patience);
      return status === "late" ? "unknown" : status;
    },
    /** Removes the status of a key that legacy has refused, and ignores a pending probe of it. */
    remove: (owner: string): void => void statuses.delete(owner),
  };
};

/** The state of an id. `hidden`: there may be a dataset, but legacy does not show it even to an administrator. */
export type DatasetState =
  | { is: "private"; shown: JsonObject }
  | { is: "public" }
  | { is: "none" }
  | { is: "hidden"; why: string };

/**
 * Reads one id with an administrator's key. The result says if it is a private dataset, and its members in a list.
 *
 * @throws A `LegacyFailure` if the answers do not show it.
 */
export const readDataset = async (ask: AskLegacy, rowById: RowById, id: number): Promise<DatasetState> => {
  const described = await ask(rowById.one(id));
  if (described.document === undefined)
    return described.kind === "notFound" ? { is: "none" } : { is: "hidden", why: `code ${described.code}` };
  const visibility = rowById.visibilityOf(described.document, id);
  if (visibility === undefined) throw new LegacyFailure("it answered with something else");
  if (visibility === "public") return { is: "public" };
  const rest = await ask(rowById.rest(id));
  // The dataset may have been deleted between the two requests.
  if (rest.document === undefined && !rowById.noRest.has(rest.code))
    throw new LegacyFailure(`it answered with code ${rest.code}`);
  return { is: "private", shown: rowById.shown(described.document, rest.document) };
};
