import type { Endpoint, Given, givenInBody, JsonObject } from "../../src/catalogue/index.ts";

/** A request to the new interface, below its prefix. `keyed`: it was made with a key, which itself is never stored. */
export type CorpusRequest = {
  endpoint: string;
  method: "GET" | "POST";
  /** `/datasets/61`, without query. */
  path: string;
  body?: JsonObject;
  keyed: boolean;
  /** The status in the traffic, if it is known. */
  status?: number;
  /** The given fields and the kind of each value, in few words. A sample has requests of each shape. */
  shape: string;
};

/** The reason why a request of the traffic is not sent. */
export type SkipReason =
  | "not an endpoint"
  | "a write"
  | "a POST without its body"
  | "a POST to legacy"
  | "not understood"
  | "too long"
  /** Legacy's interface accepts it; the new interface does not, or would send legacy another request. */
  | "only for legacy"
  | "a key where none belongs";

/**
 * The shape `limit=number tag=word`: fields and kinds of values, but never the values, which could be keys. `other`: an
 * unknown field.
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

/** The shape `body: limit=number`, separate from that of a path: other code reads a body. */
export const bodyShape = ({ input }: Endpoint, read: ReturnType<typeof givenInBody>): string =>
  `body: ${"errors" in read ? "malformed" : shapeOf(input, read.given)}`;
