import { givenInBody, givenInPairs, givenInPath, unescaped } from "../../endpoint/input.ts";
import { isObject, type Json, type JsonObject } from "../../rules/rule.ts";
import { type Pattern, patterns } from "../../serve/routes.ts";
import { bodyShape, type CorpusRequest, type NamedEndpoint, shapeOf, type SkipReason } from "./corpusRequest.ts";

/** A path of the new interface: whose it is, and the texts in it or its pairs. */
export type Routed = {
  methods: Pattern<NamedEndpoint>["methods"];
  params: Record<string, string>;
  /** The segments of its pairs of filters, escaped, where it takes any. */
  pairs?: string[];
};

/** Finds whose a path below the prefix is, as the gateway's router does. */
export const routeTable = (endpoints: NamedEndpoint[]): ((path: string) => Routed | undefined) => {
  const table = patterns(endpoints).map((pattern) => ({ ...pattern, form: routePattern(pattern) }));
  return (path) => {
    for (const { form, methods, pairsBelow } of table) {
      const found = form.exec(path);
      if (!found) continue;
      if (pairsBelow === undefined) return { methods, params: { ...found.groups } };
      const pairs = path.slice(pairsBelow.length).replace(/\/$/, "").split("/").slice(1);
      return { methods, params: {}, pairs };
    }
    return undefined;
  };
};

/** `/datasets/:dataset_id` -> what it matches, with and without a slash at its end. */
const routePattern = ({ path, pairsBelow }: Pattern<NamedEndpoint>): RegExp => {
  const parts = (pairsBelow ?? path).split(/(:\w+(?:\{.*?\})?)/).map((part) => {
    const [, name, mayBeEmpty] = /^:(\w+)(\{.*\})?$/.exec(part) ?? [];
    return name === undefined ? RegExp.escape(part) : `(?<${name}>[^/]${mayBeEmpty ? "*" : "+"})`;
  });
  return new RegExp(`^${parts.join("")}${pairsBelow === undefined ? "/?$" : "(?:/|$)"}`);
};

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
