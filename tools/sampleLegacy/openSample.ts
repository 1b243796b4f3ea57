import type { IncomingMessage, ServerResponse } from "node:http";
import { deadAnswer, pageFor, refusedAnswer, type SampleAnswer, scriptAnswer, send } from "./answers.ts";
import type { ServerState } from "./call.ts";
import { sampleCatalogue } from "./catalogue.ts";
import type { DatasetRow, User } from "./catalogueRows.ts";
import { dataFileFor } from "./dataFiles.ts";
import { type FailingFunctions, openOutages, type SampleOutage } from "./outages.ts";
import { findHandler, isKnownType } from "./routes.ts";
import { isSameText } from "./textQuirks.ts";
import { renderJson, renderXml, ScriptDied } from "./tree.ts";

/**
 * The initial state of a sample server. `datasets` stays its table, which writes change; without it the server has a
 * copy of the catalogue's datasets.
 */
export type SampleOptions = { datasets?: DatasetRow[]; users?: User[]; outage?: SampleOutage };

/** Makes the function that answers requests as legacy does. It rejects if a client leaves in the middle of its body. */
export const openSample = ({ outage, ...rows }: SampleOptions) => {
  const state: ServerState = { ...structuredClone(sampleCatalogue), ...rows, given: { last: 0 } };
  const outages = openOutages(outage);
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (outages.answers(request, response)) return;
    const form = await readForm(request);
    const { method = "GET", url = "/", headers } = request;
    const session = /(?:^|;\s*)ci_session=([^;\s]+)/.exec(headers.cookie ?? "")?.[1];
    send(response, sampleAnswer(method, url, session, form, state, outages.failingAt(url)));
  };
};

/** Fields that may also be sent as files. Other files are ignored. */
const documents = new Set(["description", "edit_parameters"]);

/** The fields of a form in the body, urlencoded or multipart; no fields for any other body. */
const readForm = async (request: IncomingMessage): Promise<URLSearchParams> => {
  const form = new URLSearchParams();
  if (request.method === "GET") return form;
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("application/x-www-form-urlencoded")) return new URLSearchParams(body.toString());
  if (!type.startsWith("multipart/form-data")) return form;

  const parts = await new Response(body, { headers: { "content-type": type } }).formData().catch(() => new FormData());
  for (const [name, value] of parts) {
    if (typeof value === "string") form.append(name, value);
    else if (documents.has(name)) form.append(name, await value.text());
  }
  return form;
};

const sampleAnswer = (
  method: string,
  address: string,
  session: string | undefined,
  form: URLSearchParams,
  state: ServerState,
  failing: FailingFunctions,
): SampleAnswer => {
  const [path = "/", ...query] = address.split("?");
  // A key in the query counts before a key in the form, even if it is empty.
  const key = new URLSearchParams(query.join("?")).getAll("api_key").at(-1) ?? form.getAll("api_key").at(-1) ?? "";
  const isGiven = key !== "" && key !== "0";
  const isCaller = (user: User): boolean =>
    isGiven ? isSameText(user.key, key) : session !== undefined && user.session === session;
  const caller = state.users.find(isCaller);
  const page = dataFileFor(path, { ...state, segments: [], caller, form }) ?? pageFor(path);
  if (page) return page;

  const [, , ...rest] = path.split("/").filter(Boolean);
  if (rest.length === 0 || key.includes('"')) return deadAnswer();
  // Legacy authenticates before it reads the format, and answers in XML.
  if (isGiven && !caller) return refusedAnswer({ error: 103 }, "xml");
  if (method !== "GET" && !caller) return refusedAnswer({ error: 102 }, "xml");
  if (method !== "GET" && caller?.role === "read-only")
    return refusedAnswer({ error: 104, about: "API calls of the read-only user can only be of type GET. " }, "xml");

  const known = isGiven && caller !== undefined;
  const format = rest[0] === "json" ? "json" : "xml";
  const [type, ...segments] = rest[0] === "json" || rest[0] === "xml" ? rest.slice(1) : rest;
  if (!type || !isKnownType(type)) return refusedAnswer({ error: 100 }, "xml", known);
  try {
    const result = findHandler([type, ...segments], method, failing)?.({ ...state, segments, caller, form }) ?? {
      error: 100,
    };
    if ("error" in result) return refusedAnswer(result, format, known);
    if (format === "xml") return scriptAnswer(200, format, renderXml(result.tree, result.layout), known);
    return scriptAnswer(200, format, result.json ?? renderJson(result.tree), known);
  } catch (error) {
    if (error instanceof ScriptDied) return deadAnswer(known);
    throw error;
  }
};
