import { onceForEach } from "../rules/onceForEach.ts";
import type { Rule } from "../rules/rule.ts";

/** All properties that the rules of one place of our document have together. */
export type Facets = {
  /** Outermost first. */
  rules: Rule[];
  /** The rules of an object's fields. */
  fields?: Record<string, Rule>;
  /** The rule of a list's entries. */
  entries?: Rule;
  /** The rule that says that the order of a list's entries does not count. */
  anyOrder?: Rule;
};

/** Follows the rules of one place down to the rule with members. */
export const facetsOf: (rule: Rule) => Facets = onceForEach((rule) => {
  const inner = rule.inside?.[""] ?? rule.repeats?.();
  const below: Facets = inner ? facetsOf(inner) : { rules: [], ...membersOf(rule) };
  return { ...below, rules: [rule, ...below.rules], ...(rule.anyOrder ? { anyOrder: rule } : {}) };
});

const membersOf = ({ inside }: Rule): Pick<Facets, "fields" | "entries"> => {
  if (!inside) return {};
  return inside["*"] ? { entries: inside["*"] } : { fields: inside };
};

/** The rule of one member, by its name or index in our document. */
export const memberOf = ({ fields, entries }: Facets, key: string): Rule | undefined =>
  entries ?? (fields && Object.hasOwn(fields, key) ? fields[key] : undefined);
