import type { RowApart } from "../../endpoint/endpoint.ts";
import type { LegacyRequest, Unsent } from "../../endpoint/legacyRequest.ts";
import type { OutcomeKind } from "../../endpoint/outcome.ts";
import type { Caller } from "../../legacy/client.ts";
import { outcomeOf } from "../../legacy/reading.ts";
import { xmlReader } from "../../legacy/xml.ts";
import type { JsonObject } from "../../rules/rule.ts";
import { fetchReadable } from "../../serve/legacyFetch.ts";
import type { Services } from "../../serve/feature.ts";

/** The endpoint whose lists lack private datasets. */
export const LIST_ENDPOINT = "listDatasets";

/** Why legacy gave no answer: it failed, or the key is unknown or no administrator's. */
export type LegacyFailure = { ok: false; kind: "failed" | "refused"; why: string };

/** What legacy answered: a document, or an error. The code alone decides what an error means. */
type LegacyDocument =
  | { ok: true; document: JsonObject }
  | { ok: true; document?: undefined; code: number; kind: OutcomeKind };

/** Asks legacy with one key. It never rejects. */
export type AskLegacy = (request: LegacyRequest | Unsent) => Promise<LegacyDocument | LegacyFailure>;

/** The result of a request without an answer. */
export const failure = (why: string, kind: LegacyFailure["kind"] = "failed"): LegacyFailure => ({
  ok: false,
  kind,
  why,
});

const endpoint = { name: LIST_ENDPOINT, readXml: xmlReader([]) };

/** Asks legacy on behalf of a caller. */
export const askAs =
  (services: Services, caller: Caller): AskLegacy =>
  async (request) => {
    if ("unsent" in request) return failure(request.unsent);
    const reply = await fetchReadable(services, endpoint, request, caller).catch((error: Error) => ({
      why: error.message,
    }));
    if ("why" in reply) return failure(reply.why);
    const { reading, status } = reply;
    if (reading.is === "unreadable") return failure(reading.why);
    if (reading.is === "document")
      return status === 200 ? { ok: true, document: reading.document } : failure(`it answered with status ${status}`);
    const { kind } = outcomeOf(reading, services.errors);
    if (kind === "unauthenticated") return failure("legacy does not know the key", "refused");
    return kind === "unavailable" ? failure(reading.message) : { ok: true, code: reading.code, kind };
  };

/** Legacy checks rights before the filter, which is illegal: administrators get 1011, other callers 106. No query runs. */
const adminProbe: LegacyRequest = { method: "GET", path: "/evaluation/request/1/normal/1/none/0" };
const probeResults: Readonly<Record<number, "administrator" | "other">> = { 1011: "administrator", 106: "other" };

/** Whether the key is an administrator's. */
export const readAdminStatus = async (ask: AskLegacy): Promise<"administrator" | "other" | LegacyFailure> => {
  const answer = await ask(adminProbe);
  if (!answer.ok) return answer;
  if (answer.document !== undefined) return failure("it answered with something else");
  return probeResults[answer.code] ?? failure(`it answered with code ${answer.code}`);
};

/** The state of an id. `hidden`: there may be a dataset, but legacy does not show it even to an administrator. */
export type DatasetState =
  | { ok: true; found: "private"; shown: JsonObject }
  | { ok: true; found: "public" | "none" }
  | { ok: true; found: "hidden"; why: string };

/** Reads one id with an administrator's key: whether it is a private dataset, and its members in a list. */
export const readDataset = async (
  ask: AskLegacy,
  apart: RowApart,
  id: number,
): Promise<DatasetState | LegacyFailure> => {
  const one = await ask(apart.one(id));
  if (!one.ok) return one;
  if (one.document === undefined)
    return one.kind === "notFound"
      ? { ok: true, found: "none" }
      : { ok: true, found: "hidden", why: `code ${one.code}` };
  const visibility = apart.visibilityOf(one.document, id);
  if (visibility === undefined) return failure("it answered with something else");
  if (visibility === "public") return { ok: true, found: "public" };
  const rest = await ask(apart.rest(id));
  if (!rest.ok) return rest;
  // The dataset may have been deleted between the two requests.
  if (rest.document === undefined && !apart.noRest.has(rest.code)) return failure(`it answered with code ${rest.code}`);
  return { ok: true, found: "private", shown: apart.shown(one.document, rest.document) };
};
