import type { Endpoint } from "../../endpoint/endpoint.ts";
import { exampleTarget } from "../../endpoint/exampleTarget.ts";
import { givenInBody, givenInPath } from "../../endpoint/input.ts";
import type { Json, JsonObject } from "../../rules/rule.ts";
import type { CorpusRequest } from "./ask.ts";
import { bodyShape } from "./bodyShape.ts";
import { shapeOf } from "./shapeOf.ts";

/** What asks for this input: a GET where a route takes it; `undefined` for what writes, and where a needed field is missing. */
export const requestFor = (name: string, endpoint: Endpoint, input: JsonObject): CorpusRequest | undefined => {
  if (endpoint.writes) return undefined;
  const isMissing = Object.entries(endpoint.input).some(
    ([field, { fallback }]) => fallback === undefined && !Object.hasOwn(input, field),
  );
  if (isMissing) return undefined;
  const texts = Object.fromEntries(Object.entries(input).map(([field, value]) => [field, textOf(value)]));
  const path = exampleTarget(endpoint, texts);
  if (path !== undefined)
    return { endpoint: name, method: "GET", path, keyed: false, shape: shapeOf(endpoint.input, givenInPath(texts)) };
  const route = endpoint.routes.find((one) => one.startsWith("POST "));
  return route === undefined
    ? undefined
    : {
        endpoint: name,
        method: "POST",
        path: route.slice("POST ".length),
        body: input,
        keyed: false,
        shape: bodyShape(endpoint, givenInBody(JSON.stringify(input), endpoint.groups ?? {})),
      };
};

/** A list stands in a path as `1,2,3`. */
const textOf = (value: Json): string =>
  typeof value === "string" ? value : Array.isArray(value) ? value.map(textOf).join(",") : JSON.stringify(value);
