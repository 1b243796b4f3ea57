import type { z } from "zod";
import type { Json, JsonObject, Note, Rule } from "../rules/rule.ts";

/** Our document, or where it does not fit what the endpoint promises (places and kinds, never values). */
export type Transformed = { ours: Json } | { mismatch: string[] };

/** One legacy document -> ours, checked against the endpoint's schema. Never throws. */
export const transform = (output: Rule, legacy: JsonObject, note: Note): Transformed => {
  const ours = output.read(legacy, note, legacy);
  const checked = output.schema.safeParse(ours);
  return checked.success && ours !== undefined
    ? { ours }
    : { mismatch: (checked.error?.issues ?? []).slice(0, 10).map(told) };
};

const told = ({ path, code }: z.core.$ZodIssue): string => `/${path.join("/")}: ${code}`;
