import { entriesOf, isObject, type Json, type JsonObject, member, numberOf } from "../src/catalogue/index.ts";

/** The first entry of a legacy list; `undefined` if the list is empty. */
export const firstEntry = (legacy: JsonObject, list: string, entries: string): JsonObject | undefined => {
  const [first] = entriesOf(member(legacy, list, entries));
  return isObject(first) ? first : undefined;
};

/**
 * The `first` of an endpoint whose input is a single id: the id of the first entry that legacy lists. `path`: that of a
 * legacy list of one entry. `field`: the name in the input.
 */
export const firstId = (path: string, [list, entries, name]: [string, string, string], field: string) => ({
  legacy: { method: "GET" as const, path },
  input(legacy: JsonObject): Record<string, Json> | undefined {
    const id = numberOf(firstEntry(legacy, list, entries)?.[name]);
    return Number.isSafeInteger(id) && id > 0 ? { [field]: id } : undefined;
  },
});

export const firstDataset = firstId("/data/list/limit/1", ["data", "dataset", "did"], "dataset_id");
