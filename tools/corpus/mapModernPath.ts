import {
  givenInBody,
  givenInPairs,
  givenInPath,
  isObject,
  type NamedEndpoint,
  parseJson,
  unescaped,
} from "../../src/catalogue/index.ts";
import { type Pattern, patterns } from "../../src/gateway/index.ts";
import { bodyShape, type CorpusRequest, shapeOf, type SkipReason } from "./corpusRequest.ts";

/** A path of the new interface: its endpoints by method, and the texts in it. */
export type Routed = {
  methods: Pattern<NamedEndpoint>["methods"];
  params: Record<string, string>;
  /** The escaped segments of its pairs of filters, if the route has pairs. */
  pairs?: string[];
};

/** Finds the endpoints of a path below the prefix, as the gateway's router does. */
export const routeTable = (endpoints: NamedEndpoint[]): ((path: string) => Routed | undefined) => {
  const table = patterns(endpoints).map((pattern) => ({ ...pattern, regExp: routePattern(pattern) }));
  return (path) => {
    for (const { regExp, methods, pairsBelow } of table) {
      const found = regExp.exec(path);
      if (!found) continue;
      if (pairsBelow === undefined) return { methods, params: { ...found.groups } };
      const pairs = path.slice(pairsBelow.length).replace(/\/$/, "").split("/").slice(1);
      return { methods, params: {}, pairs };
    }
    return undefined;
  };
};

/** `/datasets/:dataset_id` -> its regular expression, with and without a slash at the end. */
const routePattern = ({ path, pairsBelow }: Pattern<NamedEndpoint>): RegExp => {
  const parts = (pairsBelow ?? path).split(/(:\w+(?:\{.*?\})?)/).map((part) => {
    const [, name, mayBeEmpty] = /^:(\w+)(\{.*\})?$/.exec(part) ?? [];
    return name === undefined ? RegExp.escape(part) : `(?<${name}>[^/]${mayBeEmpty ? "*" : "+"})`;
  });
  return new RegExp(`^${parts.join("")}${pairsBelow === undefined ? "/?$" : "(?:/|$)"}`);
};

/** A request to the new interface, unchanged, valid or not. `path` is below the prefix. */
export const mapModernPath = (
  { methods, params, pairs }: Routed,
  method: "GET" | "POST",
  path: string,
  body: string | undefined,
): { request: CorpusRequest } | { skipped: SkipReason } => {
  const endpoint = methods.get(method);
  if (endpoint === undefined) return { skipped: "not an endpoint" };
  if (endpoint.writes) return { skipped: "a write" };
  const request = { endpoint: endpoint.name, method, path, keyed: false };
  if (method === "GET") return { request: { ...request, shape: shapeIn(endpoint, givenInUrl({ params, pairs })) } };
  if (body === undefined) return { skipped: "a POST without its body" };
  const json = body === "" ? {} : parseJson(body);
  if (!isObject(json)) return { skipped: "not understood" };
  return {
    request: { ...request, body: json, shape: bodyShape(endpoint, givenInBody(body, endpoint.bodyObjects ?? {})) },
  };
};

const shapeIn = ({ input }: NamedEndpoint, read: ReturnType<typeof givenInPairs>): string =>
  "errors" in read ? "unpaired" : shapeOf(input, read.given);

/** The fields in a path. */
export const givenInUrl = ({ params, pairs }: Pick<Routed, "params" | "pairs">): ReturnType<typeof givenInPairs> => {
  if (pairs !== undefined) return givenInPairs(pairs);
  const texts = Object.entries(params).map(([name, text]) => [name, unescaped(text)]);
  return { given: givenInPath(Object.fromEntries(texts) as Record<string, string>) };
};
