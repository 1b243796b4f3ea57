import { z } from "zod";

/** A value out of a JSON text. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
/** An object out of a JSON text. */
export type JsonObject = { [key: string]: Json };

/** Receives the events of a reading: which rule changed which value, and the legacy fields that have no rule. */
export type Note = {
  /** The note for one member of the place that this note stands for. */
  within(key: string | number): Note;
  changed(rule: string, before: Json | undefined, after: Json | undefined): void;
  unknown(key: string, value: Json): void;
};

/** The way to read a value `T` of the new interface from the legacy value, and its schema. */
export type Rule<T = unknown> = {
  name: string;
  /** Its effect, as `before -> after`: the row of the table of rules. */
  does: string;
  /** The schema of the value in the new interface; its description adds what the type does not say. */
  schema: z.ZodType<T>;
  /**
   * Never throws. It does not change a value that it does not recognize, so that the schema finds it. `parent`: the
   * legacy object around the value.
   */
  read(legacy: Json | undefined, note: Note, parent: JsonObject): Json | undefined;
  /** The legacy value for ours, if it differs; without it the value is written as it is. */
  write?(ours: Json): Json | undefined;
  /**
   * The inner rules, by the place in our document: a field's name, `*` for the entries of a list, `""` for the same
   * place.
   */
  inside?: Record<string, Rule>;
  /** The same rule with other inner rules: rewriting a tree uses it. */
  over?(inside: Record<string, Rule>): Rule;
  /** The surrounding rule that it stands for: a tree of rules is finite, a document may be nested. */
  repeats?(): Rule<T>;
  /** The legacy field that it reads, if that has another name. */
  from?: string;
  /** The legacy field that it is written to, if that is not the one it reads. */
  to?: string;
  /** The legacy member that holds the value for the inner rule. */
  wrapper?: string;
  /** An unset value leaves no field behind. */
  mayBeAbsent?: boolean;
  /** Its entries may come in any order: a comparison ignores the order. */
  anyOrder?: true;
  /** The legacy value is text that may hold markup: the text is taken from the XML as it is written. */
  markup?: boolean;
  /** Legacy escapes its text in neither format: the text is taken from the XML as it is written, undecoded. */
  verbatim?: boolean;
};

/** The type of the values that a rule reads. */
export type OursOf<R> = R extends Rule<infer T> ? T : never;

/**
 * A rule for a single value, from its name, its schema and a function that returns the same value if it has nothing to
 * change.
 */
export const rule = <T>(
  name: string,
  does: string,
  schema: z.ZodType<T>,
  convert: (legacy: Json | undefined) => Json | undefined,
  write?: (ours: Json) => Json | undefined,
): Rule<T> => ({
  name,
  does,
  schema,
  ...(write && { write }),
  read(legacy, note) {
    const ours = convert(legacy);
    if (ours !== legacy) note.changed(name, legacy, ours);
    return ours;
  },
});

/** The inner rule of a rule that stands around it, at the same place; `again` makes the same rule around another. */
export const around = (inner: Rule, again: (other: Rule) => Rule): Pick<Rule, "inside" | "over"> => ({
  inside: { "": inner },
  over: ({ "": other = inner }) => again(other),
});

/** The schema, with these sentences about its values for documentation; `undefined` sentences are left out. */
export const withDescription = <T>(schema: z.ZodType<T>, ...about: (string | undefined)[]): z.ZodType<T> => {
  const sentences = about.filter((sentence) => sentence !== undefined);
  return sentences.length === 0 ? schema : schema.describe(sentences.join(" "));
};

/** True if a legacy value means `null`: a missing field, `null`, an empty text or an empty list. */
export const isUnset = (legacy: Json | undefined): boolean =>
  legacy === undefined || legacy === null || legacy === "" || (Array.isArray(legacy) && legacy.length === 0);

/** True if a value is an object, but neither a list nor `null`. */
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** True if a value is nested at most `depth` levels deep: a scalar is 0 levels deep. */
export const isShallow = (value: Json, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isShallow(inner, depth - 1));
};
