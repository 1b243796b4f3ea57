import type { Endpoint } from "../endpoint/endpoint.ts";
import { type ErrorBody, problemOf, problemTypes } from "../http/problemDetails.ts";
import type { Json, JsonObject } from "../rules/rule.ts";
import { headersOf } from "./replyHeaders.ts";

const text: JsonObject = { type: "string" };
const code: JsonObject = { type: "string", pattern: "^[0-9]+$", description: "The legacy interface's own code." };
/** A reference to a schema of the document. */
export const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** The schemas of errors, in both dialects. */
export const errorSchemas: JsonObject = {
  InputError: {
    type: "object",
    description: "One wrong input: `loc` is its place, `msg` says what is allowed.",
    properties: { loc: { type: "array", items: { type: ["string", "integer"] } }, msg: text, type: text },
    required: ["loc", "msg", "type"],
    additionalProperties: false,
  },
  CodedError: {
    type: "object",
    properties: { code, message: text, additional_information: text },
    required: ["code", "message"],
    additionalProperties: false,
  },
  Error: {
    type: "object",
    properties: {
      detail: { anyOf: [text, schemaRef("CodedError"), { type: "array", items: schemaRef("InputError") }] },
    },
    required: ["detail"],
    additionalProperties: false,
  },
  Problem: {
    type: "object",
    description: "RFC 9457. The page that `type` leads to explains the problem.",
    properties: {
      type: { type: "string", format: "uri-reference" },
      title: text,
      status: { type: "integer", minimum: 400, maximum: 599 },
      detail: text,
      code,
      additional_information: text,
      errors: { type: "array", items: schemaRef("InputError") },
    },
    required: ["type", "title", "status", "detail"],
    additionalProperties: false,
  },
};

/** Details of the errors that any endpoint may answer with; the others are a sentence. */
const details: Readonly<Record<number, ErrorBody["detail"]>> = {
  401: { code: "103", message: "Authentication failed" },
  403: { code: "112", message: "No access granted" },
  404: { code: "111", message: "Unknown dataset" },
  409: { code: "473", message: "Entity already tagged by this tag." },
  410: "Legacy studies are no longer supported.",
  415: "The body has to be application/json.",
  422: [{ loc: ["path", "dataset_id"], msg: "value is not a valid integer", type: "type_error.integer" }],
  429: "Too many requests: see Retry-After.",
};

/** The response of a status, with this answer of `{"detail": ...}` as its example in both dialects. `base`: the prefix, "" for "/". */
export const errorResponse = (status: number, base: string, body?: ErrorBody): JsonObject => {
  const { title = "", about = "" } = problemTypes[status] ?? {};
  const example = body ?? { detail: details[status] ?? `${title}.` };
  return {
    description: `${title}. ${about}`,
    headers: headersOf(status),
    content: {
      "application/json": { schema: schemaRef("Error"), example: example as unknown as Json },
      "application/problem+json": {
        schema: schemaRef("Problem"),
        example: problemOf(status, example, base) as unknown as Json,
      },
    },
  };
};

/** The responses that do not depend on the endpoint, by status: errors, and 304. */
export const sharedResponses = (base: string): JsonObject => ({
  ...(Object.fromEntries(
    Object.keys(problemTypes).map((status) => [status, errorResponse(Number(status), base)]),
  ) as JsonObject),
  304: { description: "The client has the answer already.", headers: headersOf(304) },
});

/** What every operation may answer. */
const always = [400, 401, 403, 404, 412, 422, 429, 500, 502, 503, 504];
const withBody = [408, 413, 415];

/** An endpoint that rejects what is gone names that outcome among its errors too. */
const isEverGone = ({ errors, modern }: Endpoint): boolean =>
  [errors, modern?.problems].some((outcomes) => Object.values(outcomes ?? {}).some(({ kind }) => kind === "gone"));

/** The statuses of errors that an endpoint's operation may answer with. */
export const errorStatuses = (endpoint: Endpoint, method: string): number[] =>
  [
    ...always,
    ...(method === "post" ? withBody : []),
    ...(endpoint.writes ? [409] : []),
    // What only legacy has, and what has been given up.
    ...(isEverGone(endpoint) ? [410] : []),
  ].toSorted((a, b) => a - b);
