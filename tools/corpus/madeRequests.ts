import { exampleTarget } from "../../libraries/compare/canonicalRequest.ts";
import {
  type Endpoint,
  type Field,
  givenInBody,
  givenInPath,
  type Json,
  type JsonObject,
} from "../../src/catalogue/index.ts";
import { bodyShape, type CorpusRequest, shapeOf } from "./corpusRequest.ts";

/**
 * The request with this input: a GET if a route allows it. `undefined` for endpoints that write, and if a required
 * field is missing.
 */
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
  const route = endpoint.routes.find((template) => template.startsWith("POST "));
  return route === undefined
    ? undefined
    : {
        endpoint: name,
        method: "POST",
        path: route.slice("POST ".length),
        body: input,
        keyed: false,
        shape: bodyShape(endpoint, givenInBody(JSON.stringify(input), endpoint.bodyObjects ?? {})),
      };
};

/** A list is written in a path as `1,2,3`. */
const textOf = (value: Json): string =>
  typeof value === "string" ? value : Array.isArray(value) ? value.map(textOf).join(",") : JSON.stringify(value);

/** Every example of every endpoint that only reads. */
export const exampleRequests = (endpoints: Record<string, Endpoint>): CorpusRequest[] =>
  Object.entries(endpoints).flatMap(([name, endpoint]) =>
    Object.values(endpoint.examples).flatMap((input) => requestFor(name, endpoint, input) ?? []),
  );

/** A request for each id at each endpoint whose only required field is an id. They are made while they are taken. */
export const idRequests = function* (
  endpoints: Record<string, Endpoint>,
  ids: Iterable<number>,
): Generator<CorpusRequest> {
  const endpointsById = Object.entries(endpoints).flatMap(([name, endpoint]) => {
    const needed = Object.entries(endpoint.input).filter(([, { fallback }]) => fallback === undefined);
    const [only] = needed;
    return only && needed.length === 1 && isIdentifier(only[1]) ? [{ name, endpoint, field: only[0] }] : [];
  });
  for (const id of ids)
    for (const { name, endpoint, field } of endpointsById) {
      const request = requestFor(name, endpoint, { [field]: id });
      if (request) yield request;
    }
};

/** An identifier accepts `1` as possible and `0` as impossible; a count or a bound accepts both. */
const isIdentifier = (field: Field<unknown>): boolean => {
  const reading = field.fromText("1");
  return "value" in reading && reading.value === 1 && field.possible?.(1) === true && !field.possible(0);
};

/** The most ids of a run. */
const MAX_IDS = 10_000_000;

/**
 * Reads `1..131,200,300..302` as those ids, in this order. They are made while they are taken.
 *
 * @throws An Error that says what is allowed, for another text or too many ids.
 */
export const readIds = (text: string): Iterable<number> => {
  const ranges = text.split(",").map((part) => {
    const [, from = "", to = from] = /^\s*(\d{1,15})(?:\.\.(\d{1,15}))?\s*$/.exec(part) ?? [];
    return { from: Number(from || Number.NaN), to: Number(to) };
  });
  const count = ranges.reduce((sum, { from, to }) => (to >= from ? sum + to - from + 1 : Number.NaN), 0);
  if (!(count <= MAX_IDS)) throw new Error(`--ids: allowed are up to ${MAX_IDS} ids such as 1..131,200`);
  return {
    *[Symbol.iterator]() {
      for (const { from, to } of ranges) for (let id = from; id <= to; id++) yield id;
    },
  };
};
