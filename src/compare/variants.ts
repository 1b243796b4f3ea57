import { isUnset, type Json, type Rule } from "../rules/rule.ts";
import { facetsOf } from "./facets.ts";
import { typeOf } from "./formOf.ts";

/** How legacy writes one value: `none`, `null`, `empty`, a list of `one` or `many`, or else its type. */
export const variantOf = (legacy: Json | undefined): string => {
  if (legacy === undefined) return "none";
  if (legacy === null) return "null";
  if (isUnset(legacy)) return "empty";
  if (Array.isArray(legacy)) return legacy.length === 1 ? "one" : "many";
  return typeOf(legacy);
};

const unset = ["none", "null", "empty"];

/** Legacy writes scalars as text, numbers now and then as such, and a list of one as its entry. */
const expectedVariants = (rule: Rule, declared: readonly string[]): Record<string, readonly string[]> => {
  const { fields, entries } = facetsOf(rule);
  const scalars = ["text", ...declared.filter((type) => type === "number" || type === "boolean")];
  const single = entries && facetsOf(entries).fields ? ["object"] : scalars;
  if (declared.includes("list"))
    return { "unset or no entry": unset, "one entry": ["one", ...single], "many entries": ["many"] };
  const mayBeUnset = declared.includes("null") || rule.mayBeAbsent === true || declared.length === 0;
  return { ...(mayBeUnset ? { unset } : {}), "a value": fields ? ["object"] : scalars };
};

/** What a corpus could show of a field and has not, and the variants it has shown that no rule counts on. */
export const coverageOf = (
  rule: Rule,
  declared: readonly string[],
  seen: Readonly<Record<string, number>>,
): { never: string[]; odd: string[] } => {
  const wanted = expectedVariants(rule, declared);
  const known = new Set([...unset, ...Object.values(wanted).flat()]);
  return {
    never: Object.keys(wanted).filter((name) => !wanted[name]?.some((variant) => seen[variant] !== undefined)),
    odd: Object.keys(seen).filter((variant) => !known.has(variant)),
  };
};
