import type { Endpoint } from "../../endpoint/endpoint.ts";
import { exampleTarget } from "../../endpoint/canonicalRequest.ts";
import type { Field } from "../../endpoint/field.ts";
import { givenInBody, givenInPath } from "../../endpoint/input.ts";
import type { Json, JsonObject } from "../../rules/rule.ts";
import { bodyShape, type CorpusRequest, shapeOf } from "./corpusRequest.ts";

/** The request with this input: a GET where a route takes it. `undefined` for endpoints that write, and where a required field is missing. */
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

/** Every example of every endpoint that only reads. */
export const exampleRequests = (endpoints: Record<string, Endpoint>): CorpusRequest[] =>
  Object.entries(endpoints).flatMap(([name, endpoint]) =>
    Object.values(endpoint.examples).flatMap((input) => requestFor(name, endpoint, input) ?? []),
  );

/** Each id with every endpoint that answers for one id. They are made while they are taken. */
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

/** An identifier takes `1` as possible and `0` as impossible; a count or a bound takes both. */
const isIdentifier = (field: Field<unknown>): boolean => {
  const reading = field.fromText("1");
  return "value" in reading && reading.value === 1 && field.possible?.(1) === true && !field.possible(0);
};

/** Ids of one run. */
const MAX_IDS = 10_000_000;

type Range = { from: number; to: number };

/** `1..131,200,300..302` -> those ids in this order, made while they are taken; or what is wrong with the text. */
export const readIds = (text: string): { ids: Iterable<number>; count: number } | { errors: string[] } => {
  const readings = text.split(",").map(readRange);
  const errors = readings.flatMap((reading) => ("error" in reading ? [reading.error] : []));
  if (errors.length > 0) return { errors: errors.slice(0, 10) };
  const ranges = readings.flatMap((reading) => ("error" in reading ? [] : [reading]));
  const count = ranges.reduce((sum, { from, to }) => sum + (to - from) + 1, 0);
  if (count > MAX_IDS) return { errors: [`These are more than ${MAX_IDS} ids.`] };
  return { ids: { [Symbol.iterator]: () => each(ranges) }, count };
};

const readRange = (part: string): Range | { error: string } => {
  const shown = JSON.stringify(part.trim().slice(0, 40));
  const bounds = /^([0-9]{1,15})(?:\.\.([0-9]{1,15}))?$/.exec(part.trim());
  if (!bounds) return { error: `${shown} is neither an id nor a range of them (1..131).` };
  const from = Number(bounds[1]);
  const to = Number(bounds[2] ?? bounds[1]);
  return from > to ? { error: `${shown} goes from high to low.` } : { from, to };
};

const each = function* (ranges: readonly Range[]): Generator<number> {
  for (const { from, to } of ranges) for (let id = from; id <= to; id++) yield id;
};
