import type { JsonObject } from "../../src/catalogue/index.ts";

const header = (description: string, schema: JsonObject = { type: "string" }): JsonObject => ({ description, schema });
const count: JsonObject = { type: "integer", minimum: 0 };

/**
 * The headers of documents, in OpenAPI's form. The headers of the message itself (`Date`, `Content-Length` …) belong to
 * HTTP.
 */
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
};

/** References to the headers that a document may have. */
export const headerRefs = (isWrite: boolean): JsonObject =>
  Object.fromEntries(
    Object.keys(documentedHeaders)
      .filter((name) => isWrite || name !== "Cache-Group-Invalidation")
      .map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
