import { z } from "zod";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Field } from "../../endpoint/field.ts";
import type { Given, givenInBody } from "../../endpoint/input.ts";
import type { Json, JsonObject } from "../../rules/rule.ts";

/** One request to the new interface, below its prefix; `keyed` where it was made with a key (the key itself is never kept). */
export type CorpusRequest = {
  endpoint: string;
  method: "GET" | "POST";
  /** `/datasets/61`, without query. */
  path: string;
  body?: JsonObject;
  keyed: boolean;
  /** What the traffic says was answered, where it says so. */
  status?: number;
  /** Names of the given fields and the kind of each value, in few words: what differs here is worth asking both. */
  shape: string;
};

/** An endpoint with its one name. */
export type NamedEndpoint = Endpoint & { name: string };

/** Why a request of the traffic is none to ask. */
export type SkipReason =
  | "not an endpoint"
  | "a write"
  | "a POST without its body"
  | "not understood"
  | "too long"
  /** Legacy's interface takes it, the new one does not, or would ask legacy for something else. */
  | "only for legacy"
  | "a key where none belongs";

/**
 * `limit=number tag=word`: what a request gives, in words of a small vocabulary; never a value, so that no key can be in it. A name the
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
  return textShapes.find(([, form]) => form.test(value))?.[0] ?? "unicode";
};

const textShapes: readonly (readonly [string, RegExp])[] = [
  ["empty", /^$/],
  ["digits", /^[0-9]+$/],
  ["range", /^[0-9]+\.\.[0-9]+$/],
  ["word", /^[A-Za-z0-9_.-]+$/],
  ["text", /^[\u0020-\u007e]+$/],
];

/** `body: limit=number`; a body is read by other code than a path. */
export const bodyShape = ({ input }: Endpoint, read: ReturnType<typeof givenInBody>): string =>
  `body: ${"errors" in read ? "malformed" : shapeOf(input, read.given)}`;
