import type { z } from "zod";
import type { Json, Rule } from "../rules/rule.ts";
import type { DifferenceForm } from "./difference.ts";
import type { Ledger } from "./ledger.ts";
import { childPointer } from "./pointer.ts";

type Issue = z.core.$ZodIssue;

/**
 * One way in which a document departs from its schema, described as the ledger describes differences. Plain data: one thread finds it,
 * another looks it up in the ledger.
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
};

/** A document with more kinds of misfits is never allowed. */
export const MAX_MISFITS = 100;
/** Characters of a text. */
const MAX_CANDIDATE = 400;

/** How a document departs from its rule's schema; each kind of misfit once. */
export const misfitsOf = ({ schema }: Rule, document: Json): Misfit[] => {
  const found = new Map<string, Misfit>();
  for (const issue of schema.safeParse(document).error?.issues ?? []) {
    const misfit = misfitOf(document, issue);
    const { at: _, ...kind } = misfit;
    const key = JSON.stringify(kind);
    if (found.has(key)) continue;
    // One that is never allowed; the rest is not examined.
    if (found.size === MAX_MISFITS) return [...found.values(), { ...misfit, forms: [] }];
    found.set(key, misfit);
  }
  return [...found.values()];
};

/** The place of the first misfit that the ledger of expected differences does not allow; `undefined` where the document fits. */
export const firstUnexpected = (endpoint: string, ledger: Ledger, misfits: readonly Misfit[]): string | undefined =>
  misfits.find((misfit) => !misfit.forms.some((form) => ledger.allowing(endpoint, { ...misfit, form }) !== undefined))
    ?.at;

const misfitOf = (document: Json, { code, path: steps }: Issue): Misfit => {
  let value: Json | undefined = document;
  let path = "";
  for (const step of steps) {
    const within: Json | undefined = value;
    path = childPointer(path, Array.isArray(within) ? "*" : String(step));
    value =
      typeof within === "object" && within !== null && Object.hasOwn(within, step)
        ? (within as Record<PropertyKey, Json>)[step]
        : undefined;
  }
  return {
    at: `/${steps.join("/")}`,
    path,
    forms: formsOf(code, value),
    ...(isShort(value) ? { candidate: value } : {}),
  };
};

/** The ledger names no lists and objects, and one may be nested too deep to be written. */
const isShort = (value: Json | undefined): value is Json => {
  if (typeof value === "string") return value.length <= MAX_CANDIDATE;
  return value !== undefined && (typeof value !== "object" || value === null);
};

/** A value of another type may also be an additional one: the schema does not tell whether the field should be absent. */
const formsOf = (code: Issue["code"], value: Json | undefined): DifferenceForm[] => {
  if (value === undefined) return ["missing"];
  if (code === "invalid_type") return ["type", "extra"];
  // A document that is nested too deep is never served.
  return code === "custom" ? [] : ["value"];
};
