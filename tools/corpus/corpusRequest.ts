import type { Endpoint, Given, givenInBody, JsonObject } from "../../src/catalogue/index.ts";

/**
 * One request to the new interface, below its prefix. `keyed`: it was made with a key, which is itself never stored.
 */
export type CorpusRequest = {
  endpoint: string;
  method: "GET" | "POST";
  /** `/datasets/61`, without query. */
  path: string;
  body?: JsonObject;
  keyed: boolean;
  /** The status in the traffic, if it has one. */
  status?: number;
  /** The given fields and the kind of each value, in few words. A sample has requests of each shape. */
  shape: string;
};

/** Why a request of the traffic is not sent. */
export type SkipReason =
  | "not an endpoint"
  | "a write"
  | "a POST without its body"
  | "a POST to legacy"
  | "not understood"
  | "too long"
  /** The legacy interface takes it; the new one does not, or would ask legacy for something else. */
  | "only for legacy"
  | "a key where none belongs";

/**
 * The shape `limit=number tag=word`: fields and kinds of values, never values, which could be keys.
 * `other`: an unknown field.
 */
export const shapeOf = (fields: Endpoint["input"], given: readonly Given[]): string => {
  const words = given.map(({ name, text, json }) =>
    Object.hasOwn(fields, name) ? `${name}=${kindOf(text ?? JSON.stringify(json))}` : "other",
  );
  return [...new Set(words)].toSorted().join(" ") || "nothing";
};

const kindOf = (value: string): string => {
  if (/^\d*$/.test(value)) return value === "" ? "empty" : "number";
  if (/^\[|,/.test(value)) return "list";
  return /^"?[\w.-]*"?$/.test(value) ? "word" : "text";
};

/** The shape `body: limit=number`, apart from that of a path: other code reads a body. */
export const bodyShape = ({ input }: Endpoint, read: ReturnType<typeof givenInBody>): string =>
  `body: ${"errors" in read ? "malformed" : shapeOf(input, read.given)}`;
