import type { CorpusRequest } from "../corpus/ask.ts";
import { routeTable } from "../corpus/routeTable.ts";
import { type CanonicalRequest, canonicalRequest } from "../../endpoint/canonicalRequest.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import {
  givenInBody,
  givenInPairs,
  givenInPath,
  type InputReading,
  readInput,
  unescaped,
} from "../../endpoint/input.ts";

/** The request by which the gateway would ask the new implementation; as it was made, where its input is not valid. */
export type RouteAsModern = (ask: CorpusRequest) => CanonicalRequest;

/** `routes`: the operator's, by endpoint (MODERN_ROUTES). */
export const openAsModern = (
  endpoints: Readonly<Record<string, Endpoint>>,
  routes: Readonly<Record<string, string>>,
): RouteAsModern => {
  const routed = routeTable(Object.entries(endpoints).map(([name, endpoint]) => ({ ...endpoint, name })));

  const inputOf = ({ input, groups = {} }: Endpoint, { path, body }: CorpusRequest): InputReading | undefined => {
    if (body !== undefined) {
      const given = givenInBody(JSON.stringify(body), groups);
      return "errors" in given ? given : readInput(input, given.given, "body");
    }
    const { params = {}, pairs } = routed(path) ?? {};
    if (pairs !== undefined) {
      const given = givenInPairs(pairs);
      return "errors" in given ? given : readInput(input, given.given, "path");
    }
    const texts = Object.entries(params).map(([name, text]) => [name, unescaped(text)]);
    return readInput(input, givenInPath(Object.fromEntries(texts) as Record<string, string>), "path");
  };

  return (ask) => {
    const endpoint = endpoints[ask.endpoint];
    const read = endpoint && inputOf(endpoint, ask);
    return read && "input" in read ? canonicalRequest(endpoint, read.input, routes[ask.endpoint]) : ask;
  };
};
