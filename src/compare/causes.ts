import type { Difference } from "./difference.ts";

/**
 * What a difference most likely comes from: the rule that explains it, the ledger's entry, or, of what nobody explains, the rule that
 * a candidate seems not to follow; else its path.
 */
export const causeOf = ({ kind, rule, entry, cause, form, path }: Omit<Difference, "at">): string => {
  if (cause !== undefined) return cause;
  if (kind === "explained") return rule ?? "";
  if (entry !== undefined) return entry;
  // The whole answer is of another kind: its status and its body have one cause.
  if (rule !== undefined && (path === "status" || (path === "" && form !== "order"))) return rule;
  const innermost = rule?.split(" + ").at(-1);
  return innermost === undefined
    ? `${form} at ${path === "" ? "the whole answer" : path}`
    : `${form}, where the rule is ${innermost}`;
};
