import { z } from "zod";
import { unnoted } from "./notes.ts";
import { writeBack } from "./writeBack.ts";
import {
  around,
  withDescription,
  isObject,
  isShallow,
  isUnset,
  type OursOf,
  type Json,
  type JsonObject,
  type Note,
  type Rule,
} from "./rule.ts";

/** Unset -> `null`; the inner rule reads anything else. */
export const nullable = <T>(inner: Rule<T>): Rule<T | null> => ({
  name: "nullable",
  does: 'a missing field, `""` or `[]` -> `null`',
  schema: inner.schema.nullable(),
  ...around(inner, nullable),
  read(legacy, note, parent) {
    if (!isUnset(legacy)) return inner.read(legacy, note, parent);
    if (legacy !== null) note.changed("nullable", legacy, null);
    return null;
  },
});

/** Unset -> no field; the inner rule reads anything else. */
export const optional = <T>(inner: Rule<T>): Rule<T | undefined> => ({
  name: "optional",
  does: '`""` or `[]` -> no field',
  schema: withDescription(inner.schema.optional(), inner.schema.description, "Absent where it has no value."),
  ...around(inner, optional),
  mayBeAbsent: true,
  read(legacy, note, parent) {
    if (!isUnset(legacy)) return inner.read(legacy, note, parent);
    if (legacy !== undefined) note.changed("optional", legacy, undefined);
    return undefined;
  },
});

/** No entry, one or many -> always a list, without its empty entries. */
export const list = <T>(item: Rule<T>): Rule<T[]> => ({
  name: "list",
  does: 'none, one or many -> always a list: `"a"` -> `["a"]`',
  schema: z.array(item.schema),
  inside: { "*": item },
  over: ({ "*": other = item }) => list(other),
  read(legacy, note, parent) {
    const entries = entriesOf(legacy);
    if (entries !== legacy) note.changed("list", legacy, entries);
    const ours: Json[] = [];
    for (let i = 0; i < entries.length; i++) ours.push(item.read(entries[i], note.within(i), parent) ?? null);
    return ours;
  },
});

/** Leaves out the entries of a list for which the rule `value` reads nothing under the name `key`. */
export const havingValue = <T>(key: string, value: Rule, inner: Rule<T>): Rule<T> => ({
  name: "havingValue",
  does: 'an entry without a value is left out: `[{"name": "a", "value": "NaN"}]` -> `[]`',
  schema: withDescription(inner.schema, inner.schema.description, "Entries without a value are left out."),
  ...around(inner, (other) => havingValue(key, value, other)),
  read(legacy, note, parent) {
    const entries = entriesOf(legacy);
    const isLacking = (entry: Json): boolean => isObject(entry) && isUnset(value.read(own(entry, key), unnoted, entry));
    if (!entries.some(isLacking)) return inner.read(legacy, note, parent);
    const left = entries.filter((entry) => !isLacking(entry));
    note.changed("havingValue", legacy, left);
    return inner.read(left, note, parent);
  },
});

/** A list whose order has no meaning. */
export const anyOrder = <T>(inner: Rule<T>): Rule<T> => ({
  name: "anyOrder",
  does: "nothing to the value: its entries may come in any order, and compare as the same",
  schema: withDescription(inner.schema, inner.schema.description, "In no particular order."),
  ...around(inner, anyOrder),
  anyOrder: true,
  read: (legacy, note, parent) => inner.read(legacy, note, parent),
});

/** A list in the order of these members of legacy's entries, which are numbers. */
export const sortedBy = <T>(names: readonly string[], inner: Rule<T>): Rule<T> => ({
  name: "sortedBy",
  does: 'the entries come by some of their numbers: `[{"index": 1}, {"index": 0}]` -> `[{"index": 0}, {"index": 1}]`',
  schema: withDescription(inner.schema, inner.schema.description, `By ${names.join(", ")}.`),
  ...around(inner, (other) => sortedBy(names, other)),
  read(legacy, note, parent) {
    const entries = entriesOf(legacy);
    const isSorted = entries.every((entry, i) => i === 0 || compareBy(names, entries[i - 1] as Json, entry) <= 0);
    if (isSorted) return inner.read(legacy, note, parent);
    const sorted = entries.toSorted((a, b) => compareBy(names, a, b));
    note.changed("sortedBy", legacy, sorted);
    return inner.read(sorted, note, parent);
  },
});

const compareBy = (names: readonly string[], a: Json, b: Json): number => {
  for (const name of names) {
    const difference = numberOf(member(a, name)) - numberOf(member(b, name));
    if (difference < 0 || difference > 0) return difference;
  }
  return 0;
};

/**
 * The entries of a legacy list, which legacy writes as nothing, as one value or as a list; the same array if there is
 * nothing to do.
 */
export const entriesOf = (legacy: Json | undefined): Json[] => {
  if (isUnset(legacy)) return Array.isArray(legacy) ? legacy : [];
  if (!Array.isArray(legacy)) return [legacy as Json];
  return legacy.some(isUnset) ? legacy.filter((entry) => !isUnset(entry)) : legacy;
};

/** Reads an unset object as an empty object, so that its fields say what is unset. */
export const orEmpty = <T>(inner: Rule<T>): Rule<T> => ({
  name: "orEmpty",
  does: 'an unset object -> one with unset fields: `[]` -> `{"file": [], "evaluation": []}`',
  schema: inner.schema,
  ...around(inner, orEmpty),
  write(ours) {
    const legacy = writeBack(inner, ours);
    return isObject(legacy) && Object.values(legacy).every(isUnset) ? undefined : legacy;
  },
  read(legacy, note, parent) {
    if (!isUnset(legacy)) return inner.read(legacy, note, parent);
    note.changed("orEmpty", legacy, {});
    return inner.read({}, note, parent);
  },
});

/** Takes the value out of an object that only wraps it. */
export const unwrapped = <T>(key: string, inner: Rule<T>): Rule<T> => ({
  name: "unwrapped",
  does: '`{"data": …}` -> `…`: an outer level of nesting is removed',
  schema: inner.schema,
  ...around(inner, (other) => unwrapped(key, other)),
  wrapper: key,
  read(legacy, note, parent) {
    // Legacy writes an empty group as an empty list.
    if (isUnset(legacy)) {
      if (legacy !== undefined) note.changed("unwrapped", legacy, undefined);
      return inner.read(undefined, note, parent);
    }
    if (!isObject(legacy) || !Object.hasOwn(legacy, key)) return legacy;
    const value = legacy[key];
    note.changed("unwrapped", legacy, value);
    for (const other of Object.keys(legacy)) if (other !== key) note.unknown(other, legacy[other] as Json);
    return inner.read(value, note, legacy);
  },
});

/** Reads a field that has another name at legacy. */
export const renamed = <T>(from: string, inner: Rule<T>): Rule<T> => ({
  name: "renamed",
  does: "`ttid` -> `task_type_id`: the field has a new name",
  schema: withDescription(inner.schema, inner.schema.description, `\`${from}\` in the legacy interface.`),
  ...around(inner, (other) => renamed(from, other)),
  from,
  ...(inner.mayBeAbsent ? { mayBeAbsent: true } : {}),
  read(legacy, note, parent) {
    if (legacy !== undefined) note.changed("renamed", legacy, legacy);
    return inner.read(legacy, note, parent);
  },
});

/** The field exists only if the condition on the legacy object around it holds; `when` says so in a sentence. */
export const onlyWhen = <T>(
  when: string,
  holds: (parent: JsonObject) => boolean,
  inner: Rule<T>,
): Rule<T | undefined> => ({
  name: "onlyWhen",
  does: "a field that has no meaning here is left out",
  schema: withDescription(inner.schema.optional(), inner.schema.description, when),
  ...around(inner, (other) => onlyWhen(when, holds, other)),
  mayBeAbsent: true,
  read(legacy, note, parent) {
    if (holds(parent)) return inner.read(legacy, note, parent);
    if (legacy !== undefined) note.changed("onlyWhen", legacy, undefined);
    return undefined;
  },
});

/** The field exists only if legacy has it, also if it is unset there. */
export const ifGiven = <T>(inner: Rule<T>): Rule<T | undefined> => ({
  name: "ifGiven",
  does: "a field that legacy leaves out is left out, one that it has without a value is kept",
  schema: withDescription(inner.schema.optional(), inner.schema.description, "Absent where legacy leaves it out."),
  ...around(inner, ifGiven),
  mayBeAbsent: true,
  // A field without a value is an empty element.
  write: (ours) => writeBack(inner, ours) ?? "",
  read: (legacy, note, parent) => (legacy === undefined ? undefined : inner.read(legacy, note, parent)),
});

/** A legacy field that the new interface does not have. */
export const dropped: Rule<undefined> = {
  name: "dropped",
  does: "a legacy field that the new interface does not have is left out",
  schema: z.undefined().optional(),
  mayBeAbsent: true,
  read(legacy, note) {
    if (legacy !== undefined) note.changed("dropped", legacy, undefined);
    return undefined;
  },
};

/** The own member under these names, each inside the previous; `undefined` if any is missing. */
export const member = (value: Json | undefined, ...names: readonly string[]): Json | undefined =>
  names.reduce((inner, name) => (isObject(inner) ? own(inner, name) : undefined), value);

/**
 * The number that legacy writes as a number or as text; NaN for all else. `Number` throws for an object with its own
 * `toString`.
 */
export const numberOf = (value: Json | undefined): number =>
  typeof value === "string" || typeof value === "number" ? Number(value) : Number.NaN;

/** The own member of a legacy object, never a member of its prototype. */
export const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

type AbsentIn<F extends Record<string, Rule>> = { [K in keyof F]: undefined extends OursOf<F[K]> ? K : never }[keyof F];

type ObjectOf<F extends Record<string, Rule>> = { [K in Exclude<keyof F, AbsentIn<F>>]: OursOf<F[K]> } & {
  [K in AbsentIn<F>]?: OursOf<F[K]>;
};

/** An object with these fields, in this order. Other legacy fields stay unchanged, and are noted as unknown. */
export const object = <F extends Record<string, Rule>>(fields: F): Rule<ObjectOf<F>> => {
  const known = new Set<string>();
  const rules = Object.entries(fields).map(([key, rule]) => {
    const from = rule.from ?? key;
    // Two fields may be read from the same legacy field.
    const isFirst = !known.has(from);
    known.add(from);
    return { key, rule, from, isFirst };
  });
  const schema = z.object(Object.fromEntries(rules.map(({ key, rule }) => [key, rule.schema]))).catchall(shallow);
  return {
    name: "object",
    does: "the fields the new interface has, in its order; a new legacy field is kept as it came",
    // Object.fromEntries does not keep the keys' types.
    schema: schema as unknown as z.ZodType<ObjectOf<F>>,
    inside: fields,
    over: object,
    read(legacy, note) {
      if (!isObject(legacy)) return legacy;
      const ours: JsonObject = {};
      let seen = 0;
      for (const { key, rule, from, isFirst } of rules) {
        const before = legacy[from];
        if (before !== undefined && isFirst) seen++;
        const after = rule.read(before, note.within(key), legacy);
        if (after !== undefined) ours[key] = after;
      }
      if (seen !== Object.keys(legacy).length) keepUnknown(legacy, known, ours, note);
      return ours;
    },
  };
};

/** Defined, not assigned: a legacy field named `__proto__` must stay a field. */
const keepUnknown = (legacy: JsonObject, known: ReadonlySet<string>, ours: JsonObject, note: Note) => {
  for (const key of Object.keys(legacy)) {
    if (known.has(key)) continue;
    const value = legacy[key] as Json;
    note.unknown(key, value);
    if (!Object.hasOwn(ours, key))
      Object.defineProperty(ours, key, { value, enumerable: true, writable: true, configurable: true });
  }
};

/** Levels of a nested document: legacy's JSON has at most 512, and each list of one entry is one more in ours. */
const MAX_LEVELS = 1000;

/** A rule that contains itself: `build` gets the rule to use there. A document that is nested too deep is refused. */
export const nested = <T>(build: (within: Rule<T>) => Rule<T>): Rule<T> => {
  const within: Rule<T> = {
    name: "nested",
    does: NESTED,
    schema: z.lazy(() => inner.schema),
    repeats: () => inner,
    read: (legacy, note, parent) => inner.read(legacy, note, parent),
  };
  const inner = build(within);
  return nestedOver(inner);
};

const NESTED = "an entry that holds entries like itself is read as they are, at any depth";

const nestedOver = <T>(inner: Rule<T>): Rule<T> => ({
  name: "nested",
  does: NESTED,
  schema: z.custom<T>((value) => isShallow(value as Json, MAX_LEVELS)).pipe(inner.schema as z.ZodType<T, T>),
  ...around(inner, (other) => nestedOver(other as Rule<T>)),
  read: (legacy, note, parent) =>
    legacy === undefined || isShallow(legacy, MAX_LEVELS) ? inner.read(legacy, note, parent) : null,
});

/** Unknown values are passed on unread; a value nested deeper than any document would overflow the writer. */
const shallow = z.custom<Json>((value) => isShallow(value as Json, 64));
