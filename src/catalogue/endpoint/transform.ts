import type { z } from "zod";
import { member } from "../rules/compose.ts";
import { unnoted } from "../rules/notes.ts";
import type { Json, JsonObject, Note, Rule } from "../rules/rule.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Outcome } from "./outcome.ts";
import type { Result } from "./result.ts";

/**
 * Our document; or up to ten places at which it departs from the schema, with the kind of departure but no values.
 * `ours` and `issues`: the document that departs, and all departures.
 */
type Transformed = Result<
  { ours: Json },
  { mismatch: string[]; ours: Json | undefined; issues: readonly z.core.$ZodIssue[] }
>;

/** Turns one legacy document into ours, and checks it against the schema. Never throws. */
export const transform = (output: Rule, legacy: JsonObject, note: Note = unnoted): Transformed =>
  checkSchema(output, output.read(legacy, note, legacy));

const checkSchema = (output: Rule, ours: Json | undefined): Transformed => {
  const checked = output.schema.safeParse(ours);
  if (checked.success && ours !== undefined) return { ok: true, ours };
  const issues = checked.error?.issues ?? [];
  return { ok: false, mismatch: issues.slice(0, 10).map(describeIssue), ours, issues };
};

const describeIssue = ({ path, code }: z.core.$ZodIssue): string => `/${path.join("/")}: ${code}`;

/** The parts of an endpoint that decide if a document fits. */
export type Fitting = Pick<Endpoint, "output" | "echoes" | "rejectDocument">;

/** The outcome of a document; or our document; or the places at which it does not fit. */
export type Fit = { outcome: Outcome } | Transformed;

/**
 * Checks the document that the rules have read as the answer to this input, from legacy or modern: by the endpoint's
 * outcomes, by its schema, and by the ids and the limit that the input names.
 */
export const fitOf = (endpoint: Fitting, input: Record<string, unknown>, ours: Json | undefined): Fit => {
  const outcome = ours === undefined ? undefined : endpoint.rejectDocument?.(ours);
  if (outcome) return { outcome };
  const checked = checkSchema(endpoint.output, ours);
  const other = checked.ok ? otherThanAsked(endpoint, input, checked.ours) : undefined;
  return other === undefined ? checked : { ok: false, mismatch: [other], ours: undefined, issues: [] };
};

/** The place at which a document answers another input: another id, or more rows than the limit. */
const otherThanAsked = ({ echoes }: Fitting, input: Record<string, unknown>, ours: Json): string | undefined => {
  for (const [field, names] of Object.entries<readonly string[] | undefined>(echoes ?? {}))
    if (names && typeof input[field] === "number" && member(ours, ...names) !== input[field])
      return `/${names.join("/")}: not as asked`;
  const { limit } = input;
  return Array.isArray(ours) && typeof limit === "number" && ours.length > limit
    ? "/: more rows than asked"
    : undefined;
};
