import type { RowApart } from "../../endpoint/endpoint.ts";
import type { LegacyRequest, Unsent } from "../../endpoint/legacyRequest.ts";
import type { OutcomeKind } from "../../endpoint/outcome.ts";
import type { Caller, LegacyFailed, LegacyReply } from "../../legacy/client.ts";
import { type ErrorTable, outcomeOf } from "../../legacy/reading.ts";
import { xmlReader } from "../../legacy/xml.ts";
import type { JsonObject } from "../../rules/rule.ts";
import { fetchReadable } from "../../serve/legacyFetch.ts";
import type { Services } from "../../serve/feature.ts";
import { LIST_ENDPOINT } from "./datasets.ts";

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

/** Interprets the replies of `fetch`. */
export const askLegacyBy =
  (fetch: (request: LegacyRequest) => Promise<LegacyReply | LegacyFailed>, errors: ErrorTable): AskLegacy =>
  async (request) => {
    if ("unsent" in request) return failure(request.unsent);
    const reply = await fetch(request).catch((error: Error) => ({ why: error.message }));
    if ("why" in reply) return failure(reply.why);
    const { reading, status } = reply;
    if (reading.is === "unreadable") return failure(reading.why);
    if (reading.is === "document")
      return status === 200 ? { ok: true, document: reading.document } : failure(`it answered with status ${status}`);
    const { kind } = outcomeOf(reading, errors);
    if (kind === "unauthenticated") return failure("legacy does not know the key", "refused");
    return kind === "unavailable" ? failure(reading.message) : { ok: true, code: reading.code, kind };
  };

const endpoint = { name: LIST_ENDPOINT, readXml: xmlReader([]) };

/** Asks legacy on behalf of a caller. */
export const askAs = (services: Pick<Services, "client" | "observer" | "keys" | "errors">, caller: Caller): AskLegacy =>
  askLegacyBy((request) => fetchReadable(services, endpoint, request, caller), services.errors);

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
