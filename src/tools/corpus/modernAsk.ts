import { givenInBody, givenInPairs, givenInPath, unescaped } from "../../endpoint/input.ts";
import { isObject, type Json, type JsonObject } from "../../rules/rule.ts";
import type { CorpusRequest } from "./ask.ts";
import { bodyShape } from "./bodyShape.ts";
import type { Routed } from "./routeTable.ts";
import { shapeOf } from "./shapeOf.ts";
import type { SkipReason } from "./skip.ts";

/** A request to the new interface as it was made, well or badly; `path` is below the prefix. */
export const mapModernPath = (
  { methods, params, pairs }: Routed,
  method: "GET" | "POST",
  path: string,
  body: string | undefined,
): { ask: CorpusRequest } | { skipped: SkipReason } => {
  const endpoint = methods.get(method);
  if (endpoint === undefined) return { skipped: "not an endpoint" };
  if (endpoint.writes) return { skipped: "a write" };
  const ask = { endpoint: endpoint.name, method, path, keyed: false };
  if (method === "POST") {
    if (body === undefined) return { skipped: "a POST without its body" };
    const json = objectOf(body);
    if (json === undefined) return { skipped: "not understood" };
    return { ask: { ...ask, body: json, shape: bodyShape(endpoint, givenInBody(body, endpoint.groups ?? {})) } };
  }
  if (pairs === undefined) {
    const texts = Object.entries(params).map(([name, text]) => [name, unescaped(text)] as const);
    return { ask: { ...ask, shape: shapeOf(endpoint.input, givenInPath(Object.fromEntries(texts))) } };
  }
  const read = givenInPairs(pairs);
  return { ask: { ...ask, shape: "errors" in read ? "unpaired" : shapeOf(endpoint.input, read.given) } };
};

const objectOf = (body: string): JsonObject | undefined => {
  try {
    const json = (body === "" ? {} : JSON.parse(body)) as Json;
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
};
