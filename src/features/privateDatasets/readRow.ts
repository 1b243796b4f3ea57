import type { RowApart } from "../../endpoint/endpoint.ts";
import type { LegacyRequest, Unsent } from "../../endpoint/legacyRequest.ts";
import type { OutcomeKind } from "../../endpoint/outcome.ts";
import type { Caller, LegacyFailed, LegacyReply } from "../../legacy/client.ts";
import { type ErrorTable, outcomeOf } from "../../legacy/reading.ts";
import { xmlReader } from "../../legacy/xml.ts";
import type { JsonObject } from "../../rules/rule.ts";
import { fetchReadable } from "../../serve/legacyFetch.ts";
import type { Services } from "../../serve/services.ts";
import { idsInList, LIST_ENDPOINT, listAmong, listPage, NO_RESULTS } from "./datasets.ts";

/** Why legacy gave no answer: it failed, its answer cannot be parsed, or the key is unknown or no administrator's. */
export type LegacyFailure = { ok: false; kind: "failed" | "unparsable" | "refused"; why: string };

/** What legacy answered: a document, or an error. The code alone decides what an error means. */
type RowAnswer =
  | { ok: true; document: JsonObject }
  | { ok: true; document?: undefined; code: number; kind: OutcomeKind };

/** Asks legacy with one key or with none, in either format or in XML only. It never rejects. */
export type AskLegacy = (request: LegacyRequest | Unsent, format?: "xml") => Promise<RowAnswer | LegacyFailure>;

/** How rows are read: with an administrator's key, and without any. */
export type RowSource = { ask: AskLegacy; askWithoutKey: AskLegacy; apart: RowApart };

type ReadableServices = Pick<Services, "client" | "observer" | "keys" | "errors">;

const failure = (why: string, kind: LegacyFailure["kind"] = "failed"): LegacyFailure => ({ ok: false, kind, why });

/** Interprets the replies of `fetch`. */
export const askLegacyBy =
  (
    fetch: (request: LegacyRequest, format?: "xml") => Promise<LegacyReply | LegacyFailed>,
    errors: ErrorTable,
  ): AskLegacy =>
  async (request, format) => {
    if ("unsent" in request) return failure(request.unsent);
    const reply = await fetch(request, format).catch((error: Error) => ({ why: error.message }));
    if ("why" in reply) return failure(reply.why);
    const { reading, status } = reply;
    if (reading.is === "unreadable") return failure(reading.why, status === 200 ? "unparsable" : "failed");
    if (reading.is === "document")
      return status === 200 ? { ok: true, document: reading.document } : failure(`it answered with status ${status}`);
    const { kind } = outcomeOf(reading, errors);
    if (kind === "unauthenticated") return failure("legacy does not know the key", "refused");
    return kind === "unavailable" ? failure(reading.message) : { ok: true, code: reading.code, kind };
  };

const endpoint = { name: LIST_ENDPOINT, readXml: xmlReader([]) };

/** Asks legacy on behalf of a caller. */
export const askAs = (services: ReadableServices, caller: Caller): AskLegacy =>
  askLegacyBy((request, format) => fetchReadable(services, endpoint, request, caller, format), services.errors);

/** Asks for a list in XML: legacy writes names into JSON unescaped, so that a dataset's name could add rows to it. */
const askForIds = async (
  ask: AskLegacy,
  request: LegacyRequest | Unsent,
): Promise<{ ok: true; ids: number[] } | LegacyFailure> => {
  const answer = await ask(request, "xml");
  if (!answer.ok) return answer;
  if (answer.document === undefined)
    return answer.code === NO_RESULTS ? { ok: true, ids: [] } : failure(`it answered with code ${answer.code}`);
  const ids = idsInList(answer.document);
  return ids ? { ok: true, ids } : failure("it answered with something that is no list", "unparsable");
};

/** The ids on a page of the public list. */
export const publicPage = ({ askWithoutKey }: RowSource, limit: number, offset: number) =>
  askForIds(askWithoutKey, listPage(limit, offset));

/** Which of these ids (at most `MAX_IDS_ASKED`) legacy lists to the caller whom `ask` asks for. */
export const listedAmong = (ask: AskLegacy, ids: readonly number[]) => askForIds(ask, listAmong(ids));

/** Whether a row is listed without a key. Only legacy's own error means that it is not: a list that cannot be parsed has a row. */
const isPublic = async (
  { askWithoutKey }: RowSource,
  id: number,
): Promise<{ ok: true; isPublic: boolean } | LegacyFailure> => {
  const answer = await askWithoutKey(listAmong([id]), "xml");
  if (!answer.ok) return answer.kind === "unparsable" ? { ok: true, isPublic: true } : answer;
  if (answer.document !== undefined) return { ok: true, isPublic: true };
  return answer.code === NO_RESULTS ? { ok: true, isPublic: false } : failure(`it answered with code ${answer.code}`);
};

/** Whether legacy answers other requests than the one that fails. */
export const legacyAnswers = async (source: RowSource): Promise<boolean> =>
  (await publicPage(source, 1, 0)).ok || (await source.ask(source.apart.one(1))).ok;

/** The state of an id. `hidden`: there is a row, but legacy does not show it even to the administrator. */
export type RowState =
  | { ok: true; found: "private"; shown: JsonObject }
  | { ok: true; found: "public" | "none" | "hidden"; why: string };

/** Reads one id with the administrator's key: whether it is a private row, and its members in a list. */
export const readRow = async (source: RowSource, id: number): Promise<RowState | LegacyFailure> => {
  const { ask, apart } = source;
  const one = await ask(apart.one(id));
  if (!one.ok) return one;
  if (one.document === undefined) {
    const why = `code ${one.code}`;
    if (one.kind === "notFound") return { ok: true, found: "none", why };
    const listed = await isPublic(source, id);
    if (!listed.ok) return listed;
    if (listed.isPublic) return { ok: true, found: "public", why };
    return one.kind === "noAccess"
      ? failure("the key is no administrator's", "refused")
      : { ok: true, found: "hidden", why };
  }
  const visibility = apart.visibilityOf(one.document, id);
  if (visibility === undefined) return failure("it answered with something else");
  if (visibility === "public") return { ok: true, found: "public", why: "it is public" };
  const rest = await ask(apart.rest(id));
  if (!rest.ok) return rest;
  // The row may have been deleted between the two requests.
  if (rest.document === undefined && !apart.noRest.has(rest.code)) return failure(`it answered with code ${rest.code}`);
  return { ok: true, found: "private", shown: apart.shown(one.document, rest.document) };
};
