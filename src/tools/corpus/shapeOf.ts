import { z } from "zod";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import type { Field } from "../../endpoint/field.ts";
import type { Given } from "../../endpoint/input.ts";
import type { Json } from "../../rules/rule.ts";

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
