import { z } from "zod";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Field } from "../../endpoint/field.ts";
import type { Given, givenInBody } from "../../endpoint/input.ts";
import type { Json, JsonObject } from "../../rules/rule.ts";

/** One request to the new interface, below its prefix. `keyed`: it was made with a key, which is itself never stored. */
export type CorpusRequest = {
  endpoint: string;
  method: "GET" | "POST";
  /** `/datasets/61`, without query. */
  path: string;
  body?: JsonObject;
  keyed: boolean;
  /** The status that the traffic shows, where it shows one. */
  status?: number;
  /** The given fields and the kind of each value, in few words. Requests of different shapes are worth sending both. */
  shape: string;
};

/** An endpoint with its name. */
export type NamedEndpoint = Endpoint & { name: string };

/** Why a request of the traffic is not sent. */
export type SkipReason =
  | "not an endpoint"
  | "a write"
  | "a POST without its body"
  | "not understood"
  | "too long"
  /** The legacy interface takes it; the new one does not, or would ask legacy for something else. */
  | "only for legacy"
  | "a key where none belongs";

/**
 * `limit=number tag=word`: the given fields in words of a small vocabulary, never their values, which could be keys. A field that the
 * endpoint does not have is `other`.
 */
export const shapeOf = (fields: Endpoint["input"], given: readonly Given[]): string => {
  const words = given.map(({ name, text, json }) => {
    const field = Object.hasOwn(fields, name) ? (fields[name] as Field<unknown>) : undefined;
    return field === undefined ? "other" : `${name}=${kindOf(field, text, json)}`;
  });
  return [...new Set(words)].toSorted().join(" ") || "nothing";
};

const kindOf = (field: Field<unknown>, text: string | undefined, json: Json | undefined): string => {
  if (json === null) return "null";
  const reading = text === undefined ? field.fromJson(json as Json) : field.fromText(text);
  if (!("value" in reading)) return "bad";
  const { value } = reading;
  if (field.possible?.(value) === false) return "impossible";
  if (Array.isArray(value)) return value.length === 1 ? "one" : "list";
  if (typeof value !== "string") return typeof value;
  if (field.schema instanceof z.ZodEnum) return value;
  return textShapes.find(([, pattern]) => pattern.test(value))?.[0] ?? "unicode";
};

const textShapes: readonly (readonly [string, RegExp])[] = [
  ["empty", /^$/],
  ["digits", /^[0-9]+$/],
  ["range", /^[0-9]+\.\.[0-9]+$/],
  ["word", /^[A-Za-z0-9_.-]+$/],
  ["text", /^[\u0020-\u007e]+$/],
];

/** `body: limit=number`: other code reads a body than reads a path. */
export const bodyShape = ({ input }: Endpoint, read: ReturnType<typeof givenInBody>): string =>
  `body: ${"errors" in read ? "malformed" : shapeOf(input, read.given)}`;
