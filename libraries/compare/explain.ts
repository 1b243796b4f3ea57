import {
  childPointer,
  collectChanges,
  type Facets,
  facetsOf,
  isObject,
  type Json,
  type JsonObject,
  memberOf,
  pointerSteps,
  type Rule,
  type RuleChange,
} from "../../src/catalogue/index.ts";
import { type DifferenceForm, differenceFormOf, isSame } from "./difference.ts";
import type { Origin } from "./compareAnswers.ts";

/** A step from the legacy value to ours at a place; without `rule` no rule explains it. */
type ExplainedStep = { form: DifferenceForm; rule?: string; legacy?: Json; ours?: Json };

/** A place of both documents: the legacy value, ours, and every step between them. */
type Explained = { path: string; at: string; legacy?: Json; ours?: Json; steps: ExplainedStep[] };

/** Called for every place; for a place with members (`isLeaf` false) before its members. */
type VisitExplained = (place: Explained, isLeaf: boolean) => void;

/** The changes that rules made, by the pointer of the place. */
type ChangesByPlace = ReadonlyMap<string, RuleChange[]>;

/** The notes of a rule about a document, by place, without the fields that have no rule. */
export const changesIn = (output: Rule, document: JsonObject): ChangesByPlace => {
  const { note, changes } = collectChanges();
  output.read(document, note, document);
  return changesByPlace(changes);
};

/** Groups the notes of rules by place, without the fields that have no rule. */
export const changesByPlace = (changes: readonly RuleChange[]): ChangesByPlace =>
  Map.groupBy(
    changes.filter(({ rule }) => rule !== "unknown"),
    ({ at }) => at,
  );

/**
 * Visits the legacy document and ours side by side, and checks the changes that rules noted against the actual values.
 * A difference that no chain of noted changes leads to is a step without a rule.
 */
export const explain = (
  rule: Rule,
  legacy: Json | undefined,
  ours: Json | undefined,
  changes: ChangesByPlace,
  visit: VisitExplained,
): void => walk({ facets: facetsOf(rule), path: "", at: "", legacy, ours }, changes, visit);

type PlaceToExplain = { facets?: Facets | undefined; path: string; at: string; legacy?: Json; ours?: Json };

const walk = (place: PlaceToExplain, changes: ChangesByPlace, visit: VisitExplained): void => {
  const { facets, path, at, legacy, ours } = place;
  const { steps, value } = follow(changes.get(at) ?? [], legacy);
  if (legacy === undefined && ours === undefined && steps.length === 0) return;
  const explained = { path, at, legacy, ours, steps };
  if (!hasRuledMembers(facets, ours) && isSame(value, ours)) return visit(explained, true);
  if (Array.isArray(value) && Array.isArray(ours) && value.length === ours.length) {
    visit(explained, false);
    const entries = facets?.entries && facetsOf(facets.entries);
    for (let i = 0; i < ours.length; i++)
      walk({ facets: entries, path: `${path}/*`, at: `${at}/${i}`, legacy: value[i], ours: ours[i] }, changes, visit);
  } else if (isObject(value) && isObject(ours)) {
    visit(explained, false);
    for (const { key, from, rule } of membersOf(facets, value, ours)) {
      const member = {
        path: childPointer(path, key),
        at: childPointer(at, key),
        legacy: Object.hasOwn(value, from) ? value[from] : undefined,
        ours: Object.hasOwn(ours, key) ? ours[key] : undefined,
      };
      walk({ ...member, facets: rule && facetsOf(rule) }, changes, visit);
    }
  } else {
    const form = differenceFormOf(value, ours);
    visit(form ? { ...explained, steps: [...steps, { form, legacy: value, ours }] } : explained, true);
  }
};

/** True if the members have rules: such a list or object is visited member by member, even if it is unchanged. */
const hasRuledMembers = (facets: Facets | undefined, ours: Json | undefined): boolean =>
  (facets?.fields !== undefined && isObject(ours)) || (facets?.entries !== undefined && Array.isArray(ours));

/** Follows the noted changes from the legacy value. A gap between two changes is a step without a rule. */
const follow = (
  chain: readonly RuleChange[],
  legacy: Json | undefined,
): { steps: ExplainedStep[]; value: Json | undefined } => {
  const steps: ExplainedStep[] = [];
  let value = legacy;
  for (const { rule, before, after } of chain) {
    const gap = differenceFormOf(value, before);
    if (gap) steps.push({ form: gap, legacy: value, ours: before });
    steps.push({ form: differenceFormOf(before, after) ?? "moved", rule, legacy: before, ours: after });
    value = after;
  }
  return { steps, value };
};

type Member = { key: string; from: string; rule?: Rule };

/** The members in our order: those with a rule, then all others of either document. */
const membersOf = (facets: Facets | undefined, legacy: Json & object, ours: Json & object): Member[] => {
  const ruled = Object.entries(facets?.fields ?? {}).map(([key, rule]) => ({ key, from: rule.from ?? key, rule }));
  const keys = new Set(ruled.map(({ key }) => key));
  const read = new Set(ruled.map(({ from }) => from));
  const others = new Set([
    ...Object.keys(ours).filter((key) => !keys.has(key)),
    ...Object.keys(legacy).filter((key) => !read.has(key) && !keys.has(key)),
  ]);
  return [...ruled, ...[...others].map((key) => ({ key, from: key }))];
};

/** The legacy value at a place of our document, and the names of the rules for it. */
export const lookUp = (
  rule: Rule,
  legacy: Json | undefined,
  changes: ChangesByPlace,
  steps: readonly string[],
): { legacy?: Json; rules: string[] } => {
  let facets: Facets | undefined = facetsOf(rule);
  let value = legacy;
  let at = "";
  for (const step of steps) {
    const { value: within } = follow(changes.get(at) ?? [], value);
    const inner: Rule | undefined = facets && memberOf(facets, step);
    const from = facets?.entries ? step : (inner?.from ?? step);
    value =
      typeof within === "object" && within !== null && Object.hasOwn(within, from)
        ? (within as never)[from]
        : undefined;
    at = childPointer(at, step);
    facets = inner && facetsOf(inner);
  }
  const noted = (changes.get(at) ?? []).map(({ rule: name }) => name);
  return { legacy: value, rules: noted.length > 0 ? noted : (facets?.rules.map(({ name }) => name) ?? []) };
};

/**
 * The origin of our document: legacy's document, by these rules. It is computed with the first difference. Without a
 * document only the rules are known.
 */
export const originIn = (output: Rule, document: JsonObject | undefined): Origin => {
  let places: ChangesByPlace | undefined;
  return (at) => {
    if (at !== "" && !at.startsWith("/")) return { rules: [] };
    places ??= document === undefined ? new Map() : changesIn(output, document);
    return lookUp(output, document, places, pointerSteps(at));
  };
};
