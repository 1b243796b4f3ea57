import type { Rule } from "./rule.ts";

type Flag = "markup" | "verbatim";

/** The legacy paths (`study.description`) of the rules that bear this flag: read off the tree, so that no list can drift. */
const flaggedPaths = (flag: Flag, rule: Rule, at: string[] = []): string[] => [
  ...(rule[flag] ? [at.join(".")] : []),
  ...Object.entries(rule.inside ?? {}).flatMap(([place, inner]) =>
    flaggedPaths(flag, inner, [...at, ...stepTo(rule, place, inner)]),
  ),
];

const stepTo = (rule: Rule, place: string, inner: Rule): string[] => {
  if (place === "*") return [];
  if (place === "") return rule.wrapper === undefined ? [] : [rule.wrapper];
  return [inner.from ?? place];
};

/** Texts that may hold markup. */
export const markupPaths = (rule: Rule): string[] => flaggedPaths("markup", rule);

/** Texts that are taken from the XML as they are written. */
export const verbatimPaths = (rule: Rule): string[] => flaggedPaths("verbatim", rule);
