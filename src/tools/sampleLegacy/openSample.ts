import type { IncomingMessage, ServerResponse } from "node:http";
import type { Faults, ServerState } from "./call.ts";
import { sampleCatalogue } from "./catalogue.ts";
import type { DatasetRow, User } from "./catalogueRows.ts";
import { sampleAnswer } from "./sampleAnswer.ts";

/** What a sample server holds. The array of datasets that it is given stays its table; of the catalogue's it keeps its own. */
export type SampleOptions = { faults?: Faults; datasets?: DatasetRow[]; users?: User[] };

/** Answers requests as legacy does. Rejects where a client leaves in the middle of its body. */
export const openSample = ({ faults = {}, ...rows }: SampleOptions) => {
  const state: ServerState = { ...structuredClone(sampleCatalogue), ...rows, faults, given: { last: 0 } };
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const form = await readForm(request);
    const { status, headers, body } = sampleAnswer(request.method ?? "GET", request.url ?? "/", form, state);
    response.writeHead(status, headers).end(body);
  };
};

/** What may be sent as a file as well as in a field. Of other files nothing is kept. */
const documents = new Set(["description", "edit_parameters"]);

/** The fields of a form in the body, urlencoded or multipart; of any other body, none. */
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
