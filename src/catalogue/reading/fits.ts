import type { z } from "zod";
import { unnoted } from "../rules/notes.ts";
import { own } from "../rules/compose.ts";
import { isObject, isShallow, type Json, type JsonObject, type Rule } from "../rules/rule.ts";
import { facetsOf, memberOf } from "./facets.ts";
import { childPointer } from "../rules/pointer.ts";

type ZodIssue = z.core.$ZodIssue;

/** How two answers differ at one place. `moved`: the same value at another place. */
export type DifferenceForm = "status" | "missing" | "extra" | "type" | "value" | "order" | "moved";

/**
 * One way in which a document departs from its schema, described as the ledger describes differences. Plain data: one
 * thread finds it, another looks it up in the ledger.
 */
export type Misfit = {
  /** The pointer of the first place. */
  at: string;
  /** As the ledger writes it: `*` for the entries of a list. */
  path: string;
  /** The forms of difference as which the ledger may allow it; empty where it may not. */
  forms: readonly DifferenceForm[];
  /** The value there, if it is a short text, a number, a boolean or `null`. */
  candidate?: Json;
  /** The rule for this place reads the value as one that fits: the document is served with that. */
  isRead?: true;
};

/** What the rule for a place of a document reads there; `undefined`: the field is left out. */
type ReadValue = { steps: readonly PropertyKey[]; value: Json | undefined };

/** How a document fits its schema. `readings`: what stands in place of the misfits that rules read. */
type Fit = { misfits: Misfit[]; readings: ReadValue[] };

/** A document with more kinds of misfits is never allowed. */
export const MAX_MISFITS = 100;
/** Characters of a text. */
const MAX_CANDIDATE = 400;
/** Levels of a document that can be written anew. */
const MAX_LEVELS = 1000;

/**
 * How a document departs from its rule's schema; each kind of misfit once. The ledger cannot allow a number as text,
 * nor a list or an object that is missing or is something else. The rules read the first two as they read legacy's.
 */
export const fitOf = (output: Rule, document: Json): Fit => {
  const byKind = new Map<string, Misfit>();
  const readings: ReadValue[] = [];
  const issues = output.schema.safeParse(document).error?.issues ?? [];
  const mayRead = issues.length > 0 && isShallow(document, MAX_LEVELS);
  for (const issue of issues) {
    const place = placeOf(output, document, issue.path);
    const reading = mayRead && isReadable(issue, place.value) ? read(place) : undefined;
    if (reading) readings.push({ steps: issue.path, value: reading.value });
    const misfit = misfitOf(issue, place, reading !== undefined);
    const { at: _, ...kind } = misfit;
    const key = JSON.stringify(kind);
    if (byKind.has(key)) continue;
    // One more misfit that is never allowed: the rest is not examined.
    if (byKind.size === MAX_MISFITS) return { misfits: [...byKind.values(), { ...misfit, forms: [] }], readings: [] };
    byKind.set(key, misfit);
  }
  return { misfits: [...byKind.values()], readings };
};

/** Puts what the rules read into the document, which is changed in place. */
export const withReadings = (document: Json, readings: readonly ReadValue[]): Json => {
  let whole = document;
  for (const { steps, value } of readings) {
    const last = steps.at(-1);
    if (last === undefined) whole = value ?? null;
    else {
      const within = steps
        .slice(0, -1)
        .reduce<Json>((inner, step) => (inner as JsonObject)[String(step)] as Json, whole);
      if (value === undefined) delete (within as JsonObject)[String(last)];
      else (within as JsonObject)[String(last)] = value;
    }
  }
  return whole;
};

/**
 * Whether single values are all by which a document of legacy's departs from its schema: its root fits, and no member
 * is missing. A member that the rules did not reach may have legacy's name still.
 */
export const isComplete = (output: Rule, document: Json, issues: readonly ZodIssue[]): boolean =>
  issues.every((issue) => {
    const isOfMembers = issue.code === "invalid_type" && (issue.expected === "object" || issue.expected === "array");
    if (issue.path.length === 0 || isOfMembers) return false;
    const { value, parent, rule } = placeOf(output, document, issue.path);
    return value !== undefined || (rule?.from !== undefined && own(parent, rule.from) !== undefined);
  });

/** One place of a document: its value, the object around it and the rule for it. */
type DocumentPlace = { path: string; value: Json | undefined; parent: JsonObject; rule: Rule | undefined };

const placeOf = (output: Rule, document: Json, steps: readonly PropertyKey[]): DocumentPlace => {
  const place: DocumentPlace = { path: "", value: document, parent: {}, rule: output };
  for (const step of steps) {
    const within = place.value;
    place.path = childPointer(place.path, Array.isArray(within) ? "*" : String(step));
    place.rule = place.rule && memberOf(facetsOf(place.rule), String(step));
    if (isObject(within)) place.parent = within;
    place.value =
      typeof within === "object" && within !== null && Object.hasOwn(within, step)
        ? (within as Record<PropertyKey, Json>)[step]
        : undefined;
  }
  return place;
};

/** Whether legacy makes the same departure: numbers as texts, and lists as one value or not at all. */
const isReadable = (issue: ZodIssue, value: Json | undefined): boolean =>
  issue.code === "invalid_type" &&
  (issue.expected === "array" || (issue.expected === "number" && typeof value === "string"));

/** The first reading by a rule for this place that fits. Outer rules may take off a wrapper that only legacy has. */
const read = ({ rule, value, parent }: DocumentPlace): { value: Json | undefined } | undefined => {
  for (const reader of rule ? facetsOf(rule).rules : []) {
    const ours = reader.read(value, unnoted, parent);
    if (rule?.schema.safeParse(ours).success) return { value: ours };
  }
  return undefined;
};

const misfitOf = (issue: ZodIssue, { path, value }: DocumentPlace, isRead: boolean): Misfit => ({
  at: `/${issue.path.join("/")}`,
  path,
  forms: isRead || !isForbidden(issue, value) ? formsOf(issue.code, value) : [],
  ...(isShort(value) ? { candidate: value } : {}),
  ...(isRead ? { isRead } : {}),
});

/**
 * Whether the specification forbids it: ids as texts, and other values in place of lists. A
 * missing object lacks its lists.
 */
const isForbidden = (issue: ZodIssue, value: Json | undefined): boolean =>
  isReadable(issue, value) || (issue.code === "invalid_type" && issue.expected === "object");

/** The ledger names no lists and objects, and one may be nested too deep to be written. */
const isShort = (value: Json | undefined): value is Json => {
  if (typeof value === "string") return value.length <= MAX_CANDIDATE;
  return value !== undefined && (typeof value !== "object" || value === null);
};

/**
 * A value of another type may also be an additional one: the schema does not tell whether the field should be absent.
 */
const formsOf = (code: ZodIssue["code"], value: Json | undefined): DifferenceForm[] => {
  if (value === undefined) return ["missing"];
  if (code === "invalid_type") return ["type", "extra"];
  // A document that is nested too deep is never served.
  return code === "custom" ? [] : ["value"];
};
