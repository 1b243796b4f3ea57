import type { Rule } from "./rule.ts";

/** The legacy paths (`study.description`) below a rule whose text may hold markup: read off the tree, so that no list can drift. */
export const markupPaths = (rule: Rule, at: string[] = []): string[] => [
  ...(rule.markup ? [at.join(".")] : []),
  ...Object.entries(rule.inside ?? {}).flatMap(([place, inner]) =>
    markupPaths(inner, [...at, ...stepTo(rule, place, inner)]),
  ),
];

const stepTo = (rule: Rule, place: string, inner: Rule): string[] => {
  if (place === "*") return [];
  if (place === "") return rule.wrapper === undefined ? [] : [rule.wrapper];
  return [inner.from ?? place];
};
