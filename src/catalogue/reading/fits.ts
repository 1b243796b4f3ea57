import type { z } from "zod";
import { own } from "../rules/compose.ts";
import { unnoted } from "../rules/notes.ts";
import { isObject, isShallow, type Json, type Rule } from "../rules/rule.ts";
import { type Fit, fitOf, type Fitting } from "../endpoint/transform.ts";
import { facetsOf, memberOf } from "./facets.ts";
import { inOurForm } from "./ourForm.ts";

/** The deepest nesting of a document that the rules read. */
const MAX_LEVELS = 1000;

/**
 * Checks a document of the new implementation as `fitOf` checks legacy's, after the rules have corrected what they can.
 * A scalar is not a document, and no document is nested so deep.
 */
export const fitOfOurs = (endpoint: Fitting, input: Record<string, unknown>, document: Json): Fit => {
  const isDocument = typeof document === "object" && document !== null && isShallow(document, MAX_LEVELS);
  return fitOf(endpoint, input, isDocument ? inOurForm(endpoint.output).read(document, unnoted, {}) : undefined);
};

const valueAt = (document: Json, steps: readonly PropertyKey[]): Json | undefined =>
  steps.reduce<Json | undefined>(
    (within, step) =>
      typeof within === "object" && within !== null && Object.hasOwn(within, step)
        ? (within as Record<PropertyKey, Json>)[step]
        : undefined,
    document,
  );

/**
 * True if a document of legacy departs from its schema only in single values: its root fits, and no member is missing.
 * A member that the rules did not reach may still have legacy's name.
 */
export const isComplete = (output: Rule, document: Json, issues: readonly z.core.$ZodIssue[]): boolean =>
  issues.every((issue) => {
    const isOfMembers = issue.code === "invalid_type" && (issue.expected === "object" || issue.expected === "array");
    if (issue.path.length === 0 || isOfMembers) return false;
    if (valueAt(document, issue.path) !== undefined) return true;
    const parent = valueAt(document, issue.path.slice(0, -1));
    const { from } = ruleAt(output, issue.path) ?? {};
    return from !== undefined && isObject(parent) && own(parent, from) !== undefined;
  });

const ruleAt = (output: Rule, steps: readonly PropertyKey[]): Rule | undefined =>
  steps.reduce<Rule | undefined>((rule, step) => rule && memberOf(facetsOf(rule), String(step)), output);
