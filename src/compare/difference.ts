import { isDeepStrictEqual } from "node:util";
import type { Json } from "../rules/rule.ts";

/** How two answers differ at one place. `moved`: the same value, elsewhere. */
export type DifferenceKind = "status" | "missing" | "extra" | "type" | "value" | "order" | "moved";

/** What a difference means: made by a named rule, allowed by the ledger, gone when asked again, or none of these. */
export type Classification = "explained" | "expected" | "drift" | "unexplained";

/** What a whole answer comes to: its worst difference. */
export type DifferenceResult = "equal" | Classification;

/** The path of what is said of a whole answer: that it would not be served. No entry of the ledger is about it. */
export const UNSERVED = "served";

/** One form of difference of one answer, at one path. */
export type Difference = {
  /** A JSON pointer into the new interface's document with `*` for the entries of lists, `""` for the whole; or `status`, `content-type`, `served`. */
  path: string;
  /** The first place it was seen at, with its indices. */
  at: string;
  form: DifferenceKind;
  kind: Classification;
  /** The rule that explains it, or else the one that made the expected value. */
  rule?: string;
  /** What it comes from, where that is known better than by its rule. */
  cause?: string;
  /** The ledger's entry that allows it. */
  entry?: string;
  /** The values at the first place; absent where there is none. */
  legacy?: Json;
  expected?: Json;
  candidate?: Json;
  /** The number of fields in this answer. */
  count: number;
};

/** Answers compared, each counted once by its worst difference. */
export type ResultCounts = Record<DifferenceResult, number> & { compared: number };

export const zeroCounts = (): ResultCounts => ({
  compared: 0,
  equal: 0,
  explained: 0,
  expected: 0,
  drift: 0,
  unexplained: 0,
});

const severity: readonly DifferenceResult[] = ["equal", "explained", "expected", "drift", "unexplained"];

/** An answer counts by its worst difference. */
export const resultOf = (differences: readonly Difference[]): DifferenceResult =>
  differences.reduce<DifferenceResult>(
    (worst, { kind }) => (severity.indexOf(kind) > severity.indexOf(worst) ? kind : worst),
    "equal",
  );

/** What makes two differences the same one, seen in two answers. */
export const differenceKey = ({ path, form, kind, rule, entry }: Difference): string =>
  JSON.stringify([path, form, kind, rule, entry]);

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

type JsonType = "null" | "boolean" | "number" | "text" | "list" | "object";

export const typeOf = (value: Json): JsonType => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  return typeof value === "string" ? "text" : (typeof value as "boolean" | "number" | "object");
};

export const isSame = (a: Json | undefined, b: Json | undefined): boolean => a === b || isDeepStrictEqual(a, b);

/** How the second value differs from the first, or `undefined` where it does not. */
export const differenceKindOf = (first: Json | undefined, second: Json | undefined): DifferenceKind | undefined => {
  if (isSame(first, second)) return undefined;
  if (first === undefined) return "extra";
  if (second === undefined) return "missing";
  return typeOf(first) === typeOf(second) ? "value" : "type";
};
