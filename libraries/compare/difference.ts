import type { Json } from "../../src/catalogue/index.ts";
import { isDeepStrictEqual } from "node:util";

/**
 * The difference of two answers at a place. `moved`: the same value at another place. `lost`: an answer for old clients
 * would not have legacy's value.
 */
export type DifferenceForm = "status" | "missing" | "extra" | "type" | "value" | "order" | "moved" | "lost";

/** The results of an answer, the most harmless first. */
export const differenceResults = ["equal", "explained", "expected", "drift", "unexplained"] as const;

/** The result of a whole answer, which is that of its worst difference. */
export type DifferenceResult = (typeof differenceResults)[number];

/** The origin of a difference: a rule, an expectation of the ledger, drift (gone at the second check), or unknown. */
export type Classification = Exclude<DifferenceResult, "equal">;

/** For sorting: the worse the result, the higher. */
export const severityOf = (result: DifferenceResult): number => differenceResults.indexOf(result);

/** The path of a difference that says that the answer would not be served. The ledger cannot allow it. */
export const UNSERVED = "served";

/** The path of the only difference of an unreadable answer of legacy, if the ledger expects that. */
export const UNREADABLE = "unreadable";

/** The path that stands for all differences beyond a bound: a candidate may invent paths. */
export const OTHER_PATHS = "(other paths)";

/** A kind of difference at a path of an answer. */
export type Difference = {
  /**
   * A JSON pointer with `*` for the entries of lists, `""` for the whole document; or `status`, `content-type`,
   * `served`, `unreadable`, `OTHER_PATHS`.
   */
  path: string;
  /** The pointer of the first such place, with indices. */
  at: string;
  form: DifferenceForm;
  kind: Classification;
  /** The rule that explains it, or else the rule that made the expected value. */
  rule?: string;
  /** The cause, if it is more specific than the rule. */
  cause?: string;
  /** The ledger's entry that allows it. */
  entry?: string;
  /** The values at the first place; `undefined` if a side has no value. */
  legacy?: Json;
  expected?: Json;
  candidate?: Json;
  /** The number of fields of the answer that differ in this way. */
  count: number;
};

/** The members by which differences of several answers are counted as one. */
export type DifferenceKind = Pick<Difference, "path" | "form" | "kind" | "rule" | "cause" | "entry">;

/** The numbers of answers, each counted once by its worst difference. */
export type ResultCounts = Record<DifferenceResult, number> & { compared: number };

/** Counts before the first answer. */
export const zeroCounts = (): ResultCounts => ({
  compared: 0,
  equal: 0,
  explained: 0,
  expected: 0,
  drift: 0,
  unexplained: 0,
});

/** The result of an answer with these differences. */
export const resultOf = (differences: readonly Difference[]): DifferenceResult =>
  differences.reduce<DifferenceResult>(
    (worst, { kind }) => (severityOf(kind) > severityOf(worst) ? kind : worst),
    "equal",
  );

/** The key by which differences are counted as one: all of them have the same `causeOf`. */
export const differenceKey = ({ path, form, kind, rule, cause, entry }: DifferenceKind): string =>
  JSON.stringify([path, form, kind, rule, cause, entry]);

/**
 * The most likely cause of a difference: the rule that explains it, or the ledger's entry. For an unexplained
 * difference it is the rule that a candidate seems not to follow, else the path.
 */
export const causeOf = ({ kind, rule, entry, cause, form, path }: DifferenceKind): string => {
  if (cause !== undefined) return cause;
  if (kind === "explained") return rule ?? "";
  if (entry !== undefined) return entry;
  // The whole answer differs: its status and its body have the same cause.
  if (rule !== undefined && (path === "status" || (path === "" && form !== "order"))) return rule;
  const innermost = rule?.split(" + ").at(-1);
  return innermost === undefined
    ? `${form} at ${path === "" ? "the whole answer" : path}`
    : againstRule(form, innermost);
};

/** The rules that are named after the types that they make. */
const typeRules: ReadonlySet<string> = new Set(["text", "integer", "number", "boolean", "list", "object", "timestamp"]);

/** The results of the other rules, in words. */
const expectedOf: Readonly<Record<string, string>> = {
  nullable: "null",
  verbatim: "legacy’s own value",
  anyOrder: "a list",
  unwrapped: "the value alone",
};

const articleOf = (name: string): string => (/^[aeiou]/.test(name) ? "an" : "a");

/** Describes the way in which a candidate breaks the rule that made the expected value. */
const againstRule = (form: DifferenceForm, rule: string): string => {
  const isType = typeRules.has(rule);
  const expected = isType ? `${articleOf(rule)} ${rule}` : (expectedOf[rule] ?? `the result of the rule ${rule}`);
  if (form === "missing") return `left out; ${expected} was expected`;
  if (form === "extra") return "added; nothing was expected";
  if (form === "type") return `another type; ${expected} was expected`;
  const what = form === "moved" ? "place" : form === "value" && isType ? rule : form;
  return `another ${what} than expected${isType ? "" : ` by the rule ${rule}`}`;
};

type JsonType = "null" | "boolean" | "number" | "text" | "list" | "object";

/** The type of a value, as reports name it. */
export const typeOf = (value: Json): JsonType => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "string" ? "text" : (typeof value as "boolean" | "number" | "object");
};

export const isSame = (a: Json | undefined, b: Json | undefined): boolean => a === b || isDeepStrictEqual(a, b);

/** The difference of the second value from the first, or `undefined` if they are equal. */
export const differenceFormOf = (first: Json | undefined, second: Json | undefined): DifferenceForm | undefined => {
  if (isSame(first, second)) return undefined;
  if (first === undefined) return "extra";
  if (second === undefined) return "missing";
  return typeOf(first) === typeOf(second) ? "value" : "type";
};
