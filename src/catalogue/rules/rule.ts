import { z } from "zod";

/** A value out of a JSON text. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
/** An object out of a JSON text. */
export type JsonObject = { [key: string]: Json };

/** Receives what a reading does: which rule changed which value, and the legacy fields that no rule knows. */
export type Note = {
  /** The note for one member of the place this one stands for. */
  within(key: string | number): Note;
  changed(rule: string, before: Json | undefined, after: Json | undefined): void;
  unknown(key: string, value: Json): void;
};

/** How one value `T` of the new interface is read out of the legacy one, and its schema. */
export type Rule<T = unknown> = {
  name: string;
  /** What it does, as `before -> after`: the row of the table of rules. */
  does: string;
  /** What the new interface promises here; its description says what the type does not. */
  schema: z.ZodType<T>;
  /**
   * Never throws; leaves alone what it does not recognise, so that the schema finds it. `parent` is the legacy
   * object around the value.
   */
  read(legacy: Json | undefined, note: Note, parent: JsonObject): Json | undefined;
  /**
   * The rules inside, by the place in our document: a field's name, `*` for the entries of a list,
   * `""` for the same place.
   */
  inside?: Record<string, Rule>;
  /** The same rule over other rules inside: how a tree is rewritten. */
  over?(inside: Record<string, Rule>): Rule;
  /** The rule around it that it stands for: a tree of rules is finite, a document may be nested. */
  repeats?(): Rule<T>;
  /** The legacy field it reads, where that is not its own name. */
  from?: string;
  /** The legacy member that holds what the rule inside reads. */
  wrapper?: string;
  /** An unset value leaves no field behind. */
  mayBeAbsent?: boolean;
  /** Its entries may come in any order: a comparison takes another order for the same. */
  anyOrder?: true;
  /** The legacy value is text that may hold markup: its XML form is taken as it is written. */
  markup?: boolean;
  /** Legacy escapes its text in neither form: the XML form's is taken as it is written, undecoded. */
  verbatim?: boolean;
};

/** What a rule promises. */
export type OursOf<R> = R extends Rule<infer T> ? T : never;

/**
 * A rule about one value, from its name, its schema and a function that returns the same value where
 * it has nothing to change.
 */
export const rule = <T>(
  name: string,
  does: string,
  schema: z.ZodType<T>,
  convert: (legacy: Json | undefined) => Json | undefined,
): Rule<T> => ({
  name,
  does,
  schema,
  read(legacy, note) {
    const ours = convert(legacy);
    if (ours !== legacy) note.changed(name, legacy, ours);
    return ours;
  },
});

/** The schema, with these sentences about its values for documentation; those that are `undefined` are left out. */
export const withDescription = <T>(schema: z.ZodType<T>, ...about: (string | undefined)[]): z.ZodType<T> => {
  const sentences = about.filter((sentence) => sentence !== undefined);
  return sentences.length === 0 ? schema : schema.describe(sentences.join(" "));
};

/** Whether a legacy value means `null`: a missing field, `null`, an empty text or an empty list. */
export const isUnset = (legacy: Json | undefined): boolean =>
  legacy === undefined || legacy === null || legacy === "" || (Array.isArray(legacy) && legacy.length === 0);

/** Whether a value is an object, and neither a list nor `null`. */
export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether a value is nested at most `depth` levels deep: a scalar is 0 levels deep. */
export const isShallow = (value: Json, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isShallow(inner, depth - 1));
};
