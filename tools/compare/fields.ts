import { z } from "zod";
import {
  childPointer,
  entriesOf,
  facetsOf,
  isObject,
  isUnset,
  type Json,
  type JsonObject,
  type Rule,
} from "../../src/catalogue/index.ts";
import { truncate } from "../../src/operation/index.ts";
import { typeOf } from "../../libraries/compare/difference.ts";
import type { FieldReport } from "./report/report.ts";

/** The values seen at a place. */
type SeenField = {
  legacyPath: string;
  documents: number;
  seen: Record<string, number>;
  examples: string[];
  isUnused?: true;
};

/**
 * The fields seen, by their path in our document; a legacy field that no rule reads has the path that it would have
 * there.
 */
export type SeenFields = Map<string, SeenField>;

/** The most legacy fields of an endpoint that no rule reads; further fields are not counted. */
const MAX_UNUSED = 200;
const MAX_FIELD_EXAMPLES = 3;

/** Counts the values of a legacy document at every place of the rule, and its fields that no rule reads. */
export const observeFields = (rule: Rule, legacy: JsonObject, fields: SeenFields): void =>
  observe(rule, { path: "", legacyPath: "" }, legacy, fields);

type FieldPlace = { path: string; legacyPath: string };

const observe = (
  rule: Rule,
  { path, legacyPath: outside }: FieldPlace,
  legacy: Json | undefined,
  fields: SeenFields,
): void => {
  const facets = facetsOf(rule);
  let value = legacy;
  let legacyPath = outside;
  // A wrapper is not a separate place.
  for (const { wrapper } of facets.rules) {
    if (wrapper === undefined) continue;
    if (isObject(value)) {
      observeOthers(path, legacyPath, value, new Set([wrapper]), fields);
      value = Object.hasOwn(value, wrapper) ? value[wrapper] : undefined;
    }
    legacyPath = joined(legacyPath, wrapper);
  }
  count({ path, legacyPath }, value, fields);
  if (facets.entries) {
    const place = { path: `${path}/*`, legacyPath: joined(legacyPath, "*") };
    for (const entry of entriesOf(value)) observe(facets.entries, place, entry, fields);
  } else if (facets.fields && isObject(value)) {
    for (const [key, inner] of Object.entries(facets.fields)) {
      const from = inner.from ?? key;
      const member = Object.hasOwn(value, from) ? value[from] : undefined;
      observe(inner, { path: childPointer(path, key), legacyPath: joined(legacyPath, from) }, member, fields);
    }
    const read = new Set(Object.entries(facets.fields).map(([key, { from }]) => from ?? key));
    observeOthers(path, legacyPath, value, read, fields);
  }
};

const joined = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

const observeOthers = (
  around: string,
  legacyPath: string,
  value: JsonObject,
  read: ReadonlySet<string>,
  fields: SeenFields,
): void => {
  for (const key of Object.keys(value)) {
    if (read.has(key)) continue;
    const path = childPointer(around, key);
    const isNew = !fields.has(path);
    if (isNew && [...fields.values()].filter(({ isUnused }) => isUnused).length >= MAX_UNUSED) continue;
    const field = count({ path, legacyPath: joined(legacyPath, key) }, value[key], fields);
    if (isNew) field.isUnused = true;
  }
};

const count = ({ path, legacyPath }: FieldPlace, legacy: Json | undefined, fields: SeenFields): SeenField => {
  const field: SeenField = fields.get(path) ?? { legacyPath, documents: 0, seen: {}, examples: [] };
  fields.set(path, field);
  field.documents++;
  const variant = variantOf(legacy);
  const seen = field.seen[variant] ?? 0;
  field.seen[variant] = seen + 1;
  if (seen === 0 && legacy !== undefined && field.examples.length < MAX_FIELD_EXAMPLES)
    field.examples.push(truncate(JSON.stringify(legacy), 80));
  return field;
};

/** Reports the values seen of each field, and the fields that legacy does not send as the rules expect. */
export const fieldReports = (
  endpoint: string,
  rule: Rule,
  fields: SeenFields,
): { coverage: FieldReport[]; schemaDrift: FieldReport[] } => {
  const coverage: FieldReport[] = [];
  const schemaDrift: FieldReport[] = [];
  for (const { path, inner, legacyPath } of placesOf(rule)) {
    const field = fields.get(path) ?? { legacyPath, documents: 0, seen: {}, examples: [] };
    const { declared, never, odd } = coverageOf(inner, field.seen);
    const rules = facetsOf(inner).rules.map(({ name }) => name);
    const report = { endpoint, path, ...field, rules, declared, never };
    coverage.push(report);
    if (odd.length > 0) schemaDrift.push(report);
  }
  for (const [path, { isUnused, ...field }] of fields)
    if (isUnused) schemaDrift.push({ endpoint, path, ...field, rules: [], declared: [], never: [] });
  return { coverage, schemaDrift };
};

const placesOf = (rule: Rule, path = "", legacyPath = ""): { path: string; legacyPath: string; inner: Rule }[] => {
  const { rules, fields = {}, entries } = facetsOf(rule);
  if (rule.repeats) return [];
  const within = rules.reduce((at, { wrapper }) => (wrapper === undefined ? at : joined(at, wrapper)), legacyPath);
  return [
    { path, legacyPath: within, inner: rule },
    ...(entries ? placesOf(entries, `${path}/*`, joined(within, "*")) : []),
    ...Object.entries(fields).flatMap(([key, inner]) =>
      placesOf(inner, childPointer(path, key), joined(within, inner.from ?? key)),
    ),
  ];
};

const typeNames: Record<string, string> = { string: "text", integer: "number", array: "list" };

type JsonSchemaTypes = { type?: string | string[]; anyOf?: JsonSchemaTypes[] };

/** The types that a schema allows, by its JSON Schema. */
const declaredBy = ({ schema }: Rule): string[] => {
  const typesOf = ({ type, anyOf = [] }: JsonSchemaTypes): string[] => [
    ...[type ?? []].flat(),
    ...anyOf.flatMap(typesOf),
  ];
  const described = z.toJSONSchema(schema, { unrepresentable: "any" }) as JsonSchemaTypes;
  return [...new Set(typesOf(described).map((type) => typeNames[type] ?? type))];
};

/** The variant in which legacy writes a value: `none`, `null`, `empty`, a list of `one` or `many`, or else its type. */
const variantOf = (legacy: Json | undefined): string => {
  if (legacy === undefined) return "none";
  if (legacy === null) return "null";
  if (isUnset(legacy)) return "empty";
  if (Array.isArray(legacy)) return legacy.length === 1 ? "one" : "many";
  return typeOf(legacy);
};

const unset = ["none", "null", "empty"];

/**
 * The variants that a rule expects. Legacy writes scalars as text, numbers sometimes as numbers, and a list with a
 * single entry as that entry.
 */
const expectedVariants = (rule: Rule, declared: readonly string[]): Record<string, readonly string[]> => {
  const { fields, entries } = facetsOf(rule);
  const scalars = ["text", ...declared.filter((type) => type === "number" || type === "boolean")];
  const single = entries && facetsOf(entries).fields ? ["object"] : scalars;
  if (declared.includes("list"))
    return { "unset or no entry": unset, "one entry": ["one", ...single], "many entries": ["many"] };
  const mayBeUnset = declared.includes("null") || rule.mayBeAbsent === true || declared.length === 0;
  return { ...(mayBeUnset ? { unset } : {}), "a value": fields ? ["object"] : scalars };
};

/**
 * `never`: the expected variants of a field that the corpus has not shown. `odd`: the variants seen that no rule
 * expects.
 */
const coverageOf = (rule: Rule, seen: Readonly<Record<string, number>>) => {
  const declared = declaredBy(rule);
  const wanted = expectedVariants(rule, declared);
  const known = new Set([...unset, ...Object.values(wanted).flat()]);
  return {
    declared,
    never: Object.keys(wanted).filter((name) => !wanted[name]?.some((variant) => seen[variant] !== undefined)),
    odd: Object.keys(seen).filter((variant) => !known.has(variant)),
  };
};
