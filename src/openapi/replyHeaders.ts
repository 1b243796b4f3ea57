import type { JsonObject } from "../rules/rule.ts";

const header = (description: string, schema: JsonObject = { type: "string" }): JsonObject => ({ description, schema });
const count: JsonObject = { type: "integer", minimum: 0 };

/** The headers of answers, as OpenAPI has them. Those of the message itself (`Date`, `Content-Length` …) are HTTP's own. */
export const documentedHeaders: Readonly<Record<string, JsonObject>> = {
  "X-Request-Id": header("The request's id, for the operators' log."),
  ETag: header("The validator of a stored answer, for `If-None-Match`. Answers to POST have none."),
  "Cache-Control": header("How long the answer may be stored, and by whom."),
  Age: header("Seconds since legacy gave the answer.", count),
  Vary: header("The request headers that the answer depends on."),
  "Cache-Status": header("Whether the answer came from the cache (RFC 9211)."),
  "Cache-Groups": header("What the answer is about (RFC 9875)."),
  "Cache-Group-Invalidation": header("What a write has made stale (RFC 9875)."),
  "Gateway-Decision": header("Who answered, and why."),
  "Server-Timing": header("Milliseconds that the parts of the answer took."),
  "Content-Encoding": header("`br` or `gzip`, where `Accept-Encoding` takes it."),
  "Access-Control-Allow-Origin": header("The origins whose pages may read the answer."),
  "Access-Control-Expose-Headers": header("The headers that such pages may read."),
  "WWW-Authenticate": header("How to authenticate: `Bearer`."),
  "Accept-Encoding": header("The codings that a body may come in: `identity`."),
  "Retry-After": header("Seconds to wait.", count),
  "RateLimit-Policy": header("How many requests a caller may send, and in which time."),
  RateLimit: header("How many are left, and until when."),
};

const onSuccess = [
  "X-Request-Id",
  "ETag",
  "Cache-Control",
  "Age",
  "Vary",
  "Cache-Status",
  "Cache-Groups",
  "Gateway-Decision",
  "Server-Timing",
  "Content-Encoding",
  "Access-Control-Allow-Origin",
  "Access-Control-Expose-Headers",
];
// An error is stored as any answer is, but only a 200 has a validator.
const onError = onSuccess.filter((name) => name !== "ETag");

const more: Readonly<Record<number, readonly string[]>> = {
  401: ["WWW-Authenticate"],
  415: ["Accept-Encoding"],
  429: ["Retry-After", "RateLimit-Policy", "RateLimit"],
  503: ["Retry-After"],
};

/** What only the answers of writes have. */
const ofWrites = ["Cache-Group-Invalidation"];

/** The headers that an answer of this status may have, as references. */
export const headersOf = (status: number, isWrite = false): JsonObject =>
  Object.fromEntries(
    [...(status < 400 ? onSuccess : onError), ...(more[status] ?? []), ...(isWrite ? ofWrites : [])].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );
