import { member, numberOf } from "../src/rules/compose.ts";
import { isObject, type Json, type JsonObject } from "../src/rules/rule.ts";

/** The first entry of a legacy list, which is an object where it has one entry; `undefined` where it has none. */
export const firstEntry = (legacy: JsonObject, list: string, entries: string): JsonObject | undefined => {
  const found: Json | undefined = member(legacy, list, entries);
  const first = Array.isArray(found) ? found[0] : found;
  return isObject(first) ? first : undefined;
};

/** The integer that legacy writes as a number or as text. */
export const idOf = (entry: JsonObject | undefined, name: string): number | undefined => {
  const id = numberOf(entry?.[name]);
  return Number.isSafeInteger(id) && id > 0 ? id : undefined;
};

/** The first dataset that legacy lists. */
export const firstDataset = {
  legacy: { method: "GET" as const, path: "/data/list/limit/1" },
  input(legacy: JsonObject): Record<string, Json> | undefined {
    const id = idOf(firstEntry(legacy, "data", "dataset"), "did");
    return id === undefined ? undefined : { dataset_id: id };
  },
};
