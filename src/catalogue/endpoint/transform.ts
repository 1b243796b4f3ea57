import type { z } from "zod";
import { unnoted } from "../rules/notes.ts";
import type { Json, JsonObject, Note, Rule } from "../rules/rule.ts";
import type { Result } from "./result.ts";

/**
 * Our document; or up to ten places at which it departs from the schema, with the kind of departure but no values.
 * `ours` and `issues`: the document all the same, and all departures.
 */
type Transformed = Result<
  { ours: Json },
  { mismatch: string[]; ours: Json | undefined; issues: readonly z.core.$ZodIssue[] }
>;

/** Turns one legacy document into ours, and checks it against the schema. Never throws. */
export const transform = (output: Rule, legacy: JsonObject, note: Note = unnoted): Transformed => {
  const ours = output.read(legacy, note, legacy);
  const checked = output.schema.safeParse(ours);
  if (checked.success && ours !== undefined) return { ok: true, ours };
  const issues = checked.error?.issues ?? [];
  return { ok: false, mismatch: issues.slice(0, 10).map(describeIssue), ours, issues };
};

const describeIssue = ({ path, code }: z.core.$ZodIssue): string => `/${path.join("/")}: ${code}`;
