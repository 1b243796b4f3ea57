import { isObject, type Json, type JsonObject, type Rule } from "./rule.ts";

/**
 * The legacy value for our value: a tree of rules run backwards, by what its rules say of themselves. It walks the
 * rules' fields, not those of our document: a member without a rule belongs to the new implementation alone, and is
 * left out. `undefined`: there is no value.
 */
export const writeBack = (rule: Rule, ours: Json | undefined): Json | undefined => {
  if (ours === undefined || rule.name === "dropped") return undefined;
  if (rule.write) return rule.write(ours);
  // The new implementation may write an empty text where it has no value.
  if (ours === null || ours === "") return undefined;
  const inner = rule.repeats?.() ?? rule.inside?.[""];
  if (inner) {
    const legacy = writeBack(inner, ours);
    return rule.wrapper === undefined || legacy === undefined ? legacy : { [rule.wrapper]: legacy };
  }
  const item = rule.inside?.["*"];
  if (item) return Array.isArray(ours) ? ours.map((entry) => writeBack(item, entry) ?? "") : ours;
  return rule.inside && isObject(ours) ? writeFields(rule.inside, ours) : ours;
};

const writeFields = (fields: Record<string, Rule>, ours: JsonObject): JsonObject => {
  const legacy: JsonObject = {};
  for (const key in fields) {
    const rule = fields[key] as Rule;
    const value = Object.hasOwn(ours, key) ? writeBack(rule, ours[key]) : undefined;
    if (value !== undefined) legacy[rule.to ?? rule.from ?? key] = value;
  }
  return legacy;
};
