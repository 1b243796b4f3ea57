import { isDeepStrictEqual } from "node:util";
import type { Json, JsonObject } from "../../src/rules/rule.ts";

/** The fields of one object that are others in the second one, and what they are there. */
export const changedFields = (first: Json | undefined, second: Json | undefined): string[] => {
  const [one, other] = [first as JsonObject, second as JsonObject];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .filter((key) => !isDeepStrictEqual(one[key], other[key]))
    .map((key) => `/${key} ${JSON.stringify(other[key])}`);
};
