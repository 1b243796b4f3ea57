import { dropped } from "../rules/compose.ts";
import { onceForEach } from "../rules/onceForEach.ts";
import type { Rule } from "../rules/rule.ts";

/**
 * The same rules for a document with our names, as the new implementation writes it, without the objects that only wrap
 * a value. Legacy's names are dropped. All other rules read it as they read legacy's document.
 */
export const inOurForm: (rule: Rule) => Rule = onceForEach((rule) => {
  const { inside, from, wrapper } = rule;
  // A document is nested, its tree of rules is not: a repeated rule is rewritten when it is first read.
  const repeated = () => inOurForm(rule.repeats?.() ?? rule);
  if (rule.repeats) return { ...rule, read: (value, note, parent) => repeated().read(value, note, parent) };
  if (inside === undefined) return rule;
  const { "": inner } = inside;
  if (inner && (from !== undefined || wrapper !== undefined)) return inOurForm(inner);
  const ours = Object.fromEntries(Object.entries(inside).map(([place, other]) => [place, inOurForm(other)]));
  for (const { from: legacys } of Object.values(inside)) if (legacys !== undefined) ours[legacys] ??= dropped;
  // A rule may read further fields than the rules that it was made of.
  const isSame = Object.keys(ours).every((place) => ours[place] === inside[place]);
  return isSame ? rule : (rule.over?.(ours) ?? rule);
});
