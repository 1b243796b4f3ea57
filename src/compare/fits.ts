import type { z } from "zod";
import type { DifferenceKind } from "./difference.ts";
import type { Ledger } from "./ledger.ts";
import type { Json, Rule } from "../rules/rule.ts";

type Issue = z.core.$ZodIssue;

/**
 * One way in which a document departs from its schema, told as a comparison would tell it; plain data, so that it can be found in one
 * thread and judged in another.
 */
export type Misfit = {
  /** The pointer of the first place. */
  at: string;
  /** As the ledger writes it: `*` for the entries of a list. */
  path: string;
  /** As what the ledger may allow it; none where nothing may. */
  forms: readonly DifferenceKind[];
  /** The value that stands there, where it is a short text, a number, a boolean or `null`. */
  candidate?: Json;
};

/** A document with more kinds of misfits than this fits under no ledger. */
export const MAX_MISFITS = 100;
/** Characters of a text. */
const MAX_CANDIDATE = 400;

/** How a document of modern's departs from what the endpoint promises, each kind once. */
export const misfitsOf = ({ schema }: Rule, document: Json): Misfit[] => {
  const found = new Map<string, Misfit>();
  for (const issue of schema.safeParse(document).error?.issues ?? []) {
    const misfit = misfitOf(document, issue);
    const { at: _, ...kind } = misfit;
    const key = JSON.stringify(kind);
    if (found.has(key)) continue;
    // The rest is not looked at: this one nothing allows.
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
    path += Array.isArray(within) ? "/*" : `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    value =
      typeof within === "object" && within !== null && Object.hasOwn(within, step)
        ? (within as Record<PropertyKey, Json>)[step]
        : undefined;
  }
  const forms = formsOf(code, value);
  return { at: `/${steps.join("/")}`, path, forms, ...(isShort(value) ? { candidate: value } : {}) };
};

/** No list and no object: the ledger names none, and one might be nested deeper than can be written. */
const isShort = (value: Json | undefined): value is Json => {
  if (typeof value === "string") return value.length <= MAX_CANDIDATE;
  return value !== undefined && (typeof value !== "object" || value === null);
};

/** What should stand there is not known: where a field may be absent, a value of another type may as well be one too many. */
const formsOf = (code: Issue["code"], value: Json | undefined): DifferenceKind[] => {
  if (value === undefined) return ["missing"];
  if (code === "invalid_type") return ["type", "extra"];
  // What is nested too deep is never passed on.
  return code === "custom" ? [] : ["value"];
};
