import type { Endpoint, Json, JsonObject } from "../../src/catalogue/index.ts";
import { type ErrorBody, problemOf, problemTypes } from "../../src/gateway/index.ts";

const text: JsonObject = { type: "string" };
const code: JsonObject = { type: "string", pattern: "^[0-9]+$", description: "The legacy interface's own code." };
/** A reference to a schema of the document. */
export const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });

/** The schemas of errors, in both formats. */
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
    description: "RFC 9457. `type` leads to an explanation of the problem.",
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

/** The statuses that operations name, each with an example of its detail. Any other error is their `default`. */
const details: Readonly<Record<number, ErrorBody["detail"]>> = {
  401: { code: "103", message: "Authentication failed" },
  403: { code: "112", message: "No access granted" },
  404: { code: "111", message: "Unknown dataset" },
  409: { code: "473", message: "Entity already tagged by this tag." },
  412: { code: "113", message: "Could not find data file record" },
  415: "The body has to be application/json.",
  422: [{ loc: ["path", "dataset_id"], msg: "value is not a valid integer", type: "type_error.integer" }],
  429: "Too many requests: see Retry-After.",
  502: "The legacy server gave no usable answer.",
  503: "Too many requests wait: see Retry-After.",
  504: "The legacy server took too long.",
};

/** The responses of errors, by status and `default`. `base`: the prefix, "" for "/". */
export const errorResponses = (base: string): JsonObject => ({
  ...(Object.fromEntries(
    Object.entries(details).map(([status, detail]) => {
      const { title, about } = problemTypes[Number(status)] as { title: string; about: string };
      return [status, response(`${title}. ${about}`, Number(status), { detail }, base)];
    }),
  ) as JsonObject),
  default: response("Any other error.", 500, { detail: "Internal Server Error" }, base),
});

const response = (description: string, status: number, body: ErrorBody, base: string) => ({
  description,
  content: {
    "application/json": { schema: schemaRef("Error"), example: body as unknown as Json },
    "application/problem+json": {
      schema: schemaRef("Problem"),
      example: problemOf(status, body, base) as unknown as Json,
    },
  },
});

/** The keys of `errorResponses` that an endpoint's operation has. */
export const errorsOf = (endpoint: Endpoint, method: string): string[] => {
  const has: Record<string, boolean> = {
    409: endpoint.writes !== undefined,
    415: method === "post",
  };
  return [...Object.keys(details), "default"].filter((status) => has[status] ?? true);
};
