import { z } from "zod";
import { isObject, isUnset, type OursOf, type Json, type JsonObject, type Note, type Rule } from "./rule.ts";

/** Unset -> `null`, anything else by the rule inside. */
export const nullable = <T>(inner: Rule<T>): Rule<T | null> => ({
  name: "nullable",
  does: 'a missing field, `""` or `[]` -> `null`',
  schema: inner.schema.nullable(),
  inside: { "": inner },
  over: ({ "": other = inner }) => nullable(other),
  read(legacy, note, parent) {
    if (!isUnset(legacy)) return inner.read(legacy, note, parent);
    if (legacy !== null) note.changed("nullable", legacy, null);
    return null;
  },
});

/** Unset -> no field, anything else by the rule inside. */
export const optional = <T>(inner: Rule<T>): Rule<T | undefined> => ({
  name: "optional",
  does: '`""` or `[]` -> no field',
  schema: inner.schema.optional(),
  inside: { "": inner },
  over: ({ "": other = inner }) => optional(other),
  mayBeAbsent: true,
  read(legacy, note, parent) {
    if (!isUnset(legacy)) return inner.read(legacy, note, parent);
    if (legacy !== undefined) note.changed("optional", legacy, undefined);
    return undefined;
  },
});

/** None, one or many -> always a list, without its empty entries. */
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

/** A list without the entries that have no value by this rule under this name. */
export const havingValue = <T>(key: string, value: Rule, inner: Rule<T>): Rule<T> => ({
  name: "havingValue",
  does: 'an entry without a value is left out: `[{"name": "a", "value": "NaN"}]` -> `[]`',
  schema: inner.schema,
  inside: { "": inner },
  over: ({ "": other = inner }) => havingValue(key, value, other),
  read(legacy, note, parent) {
    const entries = entriesOf(legacy);
    const isLacking = (entry: Json): boolean => isObject(entry) && isUnset(value.read(own(entry, key), unnoted, entry));
    if (!entries.some(isLacking)) return inner.read(legacy, note, parent);
    const left = entries.filter((entry) => !isLacking(entry));
    note.changed("havingValue", legacy, left);
    return inner.read(left, note, parent);
  },
});

const unnoted: Note = { within: () => unnoted, changed: () => undefined, unknown: () => undefined };

/** A list whose order means nothing. */
export const anyOrder = <T>(inner: Rule<T>): Rule<T> => ({
  name: "anyOrder",
  does: "nothing to the value: its entries may come in any order, and compare as the same",
  schema: inner.schema,
  inside: { "": inner },
  over: ({ "": other = inner }) => anyOrder(other),
  anyOrder: true,
  read: (legacy, note, parent) => inner.read(legacy, note, parent),
});

/** The entries of what legacy writes as nothing, one value or a list of them; the same array where there is nothing to do. */
export const entriesOf = (legacy: Json | undefined): Json[] => {
  if (isUnset(legacy)) return Array.isArray(legacy) ? legacy : [];
  if (!Array.isArray(legacy)) return [legacy as Json];
  return legacy.some(isUnset) ? legacy.filter((entry) => !isUnset(entry)) : legacy;
};

/** Takes the value out of an object that only wraps it. */
export const unwrapped = <T>(key: string, inner: Rule<T>): Rule<T> => ({
  name: "unwrapped",
  does: '`{"data": …}` -> `…`: an outer level of nesting is removed',
  schema: inner.schema,
  inside: { "": inner },
  over: ({ "": other = inner }) => unwrapped(key, other),
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

/** Reads a field that legacy calls otherwise. */
export const renamed = <T>(from: string, inner: Rule<T>): Rule<T> => ({
  name: "renamed",
  does: "`ttid` -> `task_type_id`: the field has a new name",
  schema: inner.schema,
  inside: { "": inner },
  over: ({ "": other = inner }) => renamed(from, other),
  from,
  ...(inner.mayBeAbsent ? { mayBeAbsent: true } : {}),
  read(legacy, note, parent) {
    if (legacy !== undefined) note.changed("renamed", legacy, legacy);
    return inner.read(legacy, note, parent);
  },
});

/** The field stands only where the condition on the legacy object around it holds. */
export const onlyWhen = <T>(holds: (parent: JsonObject) => boolean, inner: Rule<T>): Rule<T | undefined> => ({
  name: "onlyWhen",
  does: "a field that has no meaning here is left out",
  schema: inner.schema.optional(),
  inside: { "": inner },
  over: ({ "": other = inner }) => onlyWhen(holds, other),
  mayBeAbsent: true,
  read(legacy, note, parent) {
    if (holds(parent)) return inner.read(legacy, note, parent);
    if (legacy !== undefined) note.changed("onlyWhen", legacy, undefined);
    return undefined;
  },
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

/** The own member under these names, one inside the other; `undefined` where one is missing. */
export const member = (value: Json | undefined, ...names: readonly string[]): Json | undefined =>
  names.reduce((inner, name) => (isObject(inner) ? own(inner, name) : undefined), value);

/** The own member of a legacy object, never one of its prototype. */
export const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** The names of the fields that may be absent. */
type AbsentIn<F extends Record<string, Rule>> = { [K in keyof F]: undefined extends OursOf<F[K]> ? K : never }[keyof F];

/** What an object of these rules promises. */
type ObjectOf<F extends Record<string, Rule>> = { [K in Exclude<keyof F, AbsentIn<F>>]: OursOf<F[K]> } & {
  [K in AbsentIn<F>]?: OursOf<F[K]>;
};

/** An object with these fields, in this order. Other legacy fields are kept as they came, and noted as unknown. */
export const object = <F extends Record<string, Rule>>(fields: F): Rule<ObjectOf<F>> => {
  const rules = Object.entries(fields).map(([key, rule]) => ({ key, rule, from: rule.from ?? key }));
  const known = new Set(rules.map(({ from }) => from));
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
      for (const { key, rule, from } of rules) {
        const before = legacy[from];
        if (before !== undefined) seen++;
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

/** Unknown values are passed on unread; one nested deeper than any document would overflow the writer. */
const shallow = z.custom<Json>((value) => isShallow(value as Json, 64));

const isShallow = (value: Json, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isShallow(inner, depth - 1));
};
