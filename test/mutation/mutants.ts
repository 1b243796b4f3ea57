import { z } from "zod";
import type { Endpoint } from "../../src/catalogue/endpoint/endpoint.ts";
import type { Json, Rule } from "../../src/catalogue/rules/rule.ts";

/** One change of one rule at one place of one endpoint's tree. */
export type Mutant = {
  endpoint: string;
  /** The place in our document, with `*` for the entries of lists. */
  place: string;
  rule: string;
  how: "dropped" | "altered";
  /** The way down the tree, by the keys of `inside`. */
  steps: string[];
};

/** Every rule at every place: once without it, once with another result. */
export const mutantsOf = (endpoints: Readonly<Record<string, Endpoint>>): Mutant[] =>
  Object.entries(endpoints).flatMap(([endpoint, { output }]) =>
    nodesOf(output).flatMap(({ rule, place, steps }) =>
      (["dropped", "altered"] as const).map((how) => ({ endpoint, place, rule: rule.name, how, steps })),
    ),
  );

/** The tree with the change made. */
export const mutated = (output: Rule, { steps, how }: Pick<Mutant, "steps" | "how">): Rule =>
  rewritten(output, steps, how === "dropped" ? withoutIt : withOtherResult);

type Node = { rule: Rule; place: string; steps: string[] };

const nodesOf = (rule: Rule, place = "", steps: string[] = []): Node[] => [
  { rule, place, steps },
  ...Object.entries(rule.inside ?? {}).flatMap(([key, inner]) =>
    nodesOf(inner, key === "" ? place : `${place}/${key}`, [...steps, key]),
  ),
];

const rewritten = (rule: Rule, [step, ...rest]: string[], change: (rule: Rule) => Rule): Rule => {
  if (step === undefined) return change(rule);
  const inner = rule.inside?.[step];
  if (inner === undefined || rule.over === undefined) throw new Error(`${rule.name} has nothing at ${step}`);
  return rule.over({ ...rule.inside, [step]: rewritten(inner, rest, change) });
};

/** The rest where a rule is left out: the rule inside it, or the value as it came. */
const withoutIt = (rule: Rule): Rule =>
  rule.inside?.[""] ?? {
    name: "asItCame",
    does: "",
    schema: z.json().optional(),
    mayBeAbsent: true,
    read: (legacy) => legacy,
  };

const withOtherResult = (rule: Rule): Rule => ({
  ...rule,
  read: (legacy, note, parent) => other(rule.read(legacy, note, parent)),
});

/** Another value, of the same type where there is one. */
const other = (value: Json | undefined): Json => {
  if (typeof value === "string") return `${value}~`;
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (Array.isArray(value)) return value.length > 0 ? value.slice(1) : ["~"];
  if (value === undefined || value === null) return "~";
  return Object.fromEntries(Object.entries(value).slice(1));
};
