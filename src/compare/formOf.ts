import { isDeepStrictEqual } from "node:util";
import type { Json } from "../rules/rule.ts";
import type { DifferenceKind } from "./difference.ts";

export type JsonType = "null" | "boolean" | "number" | "text" | "list" | "object";

export const typeOf = (value: Json): JsonType => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "string" ? "text" : (typeof value as "boolean" | "number" | "object");
};

export const isSame = (a: Json | undefined, b: Json | undefined): boolean => a === b || isDeepStrictEqual(a, b);

/** How the second value differs from the first, or `undefined` where it does not. */
export const differenceKindOf = (first: Json | undefined, second: Json | undefined): DifferenceKind | undefined => {
  if (isSame(first, second)) return undefined;
  if (first === undefined) return "extra";
  if (second === undefined) return "missing";
  return typeOf(first) === typeOf(second) ? "value" : "type";
};
