import { own } from "../rules/compose.ts";
import { isObject, type Json } from "../rules/rule.ts";

/** The members of these names of an object, or of each entry of a list; nothing of anything else. */
export const excerptOf = (ours: Json, names: readonly string[] = []): Json => {
  if (Array.isArray(ours)) return names.length === 0 ? [] : ours.map((row) => excerptOf(row, names));
  if (!isObject(ours)) return null;
  return Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(ours, name) ? [[name, own(ours, name) as Json]] : [])),
  );
};
