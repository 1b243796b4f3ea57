import { childPointer } from "./pointer.ts";
import type { Json, Note } from "./rule.ts";

/** Notes the legacy fields that have no rule, but no change. */
export const servingNote = (unknown: (field: string) => void): Note => {
  const note: Note = { within: () => note, changed: () => undefined, unknown };
  return note;
};

/** Notes nothing. */
export const unnoted = servingNote(() => undefined);

/** A change by a rule: its place (a JSON pointer into our document), the rule's name, the values before and after. */
export type RuleChange = { at: string; rule: string; before: Json | undefined; after: Json | undefined };

/** Collects every change, to explain a difference. */
export const collectChanges = (): { note: Note; changes: RuleChange[] } => {
  const changes: RuleChange[] = [];
  const noteAt = (at: string): Note => ({
    within: (key) => noteAt(childPointer(at, key)),
    changed: (rule, before, after) => void changes.push({ at, rule, before, after }),
    unknown: (key, value) =>
      void changes.push({ at: childPointer(at, key), rule: "unknown", before: value, after: value }),
  });
  return { note: noteAt(""), changes };
};
