import { pointerSteps } from "../../compare/pointer.ts";
import type { Endpoint } from "../../endpoint/endpoint.ts";
import { transform } from "../../endpoint/transform.ts";
import { readLegacy } from "../../legacy/reading.ts";
import { xmlReaderFor } from "../../legacy/xml.ts";
import { own } from "../../rules/compose.ts";
import { collectChanges } from "../../rules/notes.ts";
import { isObject, type Json, type JsonObject, type Rule } from "../../rules/rule.ts";
import { cell, codeCell, MAX_VALUE, shown } from "./markdown.ts";

/** One change of a document: what the rule does there, the place, the value before it and in our document. */
type Change = { does: string; place: string; before: Json | undefined; now: Json | undefined };

/** A response of legacy's. */
type LegacyResponse = { type: string; body: string };

const WHOLE = "the answer";

/** What the rules of an endpoint change in these answers of legacy's: a row for each kind of change, with its places and an example. */
export const fieldRows = (endpoint: Endpoint, responses: readonly LegacyResponse[]): string[][] => {
  const rows = new Map<string, { places: Set<string>; example: Change }>();
  for (const change of responses.flatMap((response) => changesIn(endpoint, response))) {
    const row = rows.get(change.does) ?? { places: new Set(), example: change };
    rows.set(change.does, { places: row.places.add(change.place), example: better(row.example, change) });
  }
  return [...rows].map(([does, { places, example }]) => [
    cell(does),
    [...places].map((place) => (place === WHOLE ? place : codeCell(place))).join(", "),
    shown(example.before),
    shown(example.now),
  ]);
};

const changesIn = (endpoint: Endpoint, { type, body }: LegacyResponse): Change[] => {
  // The XML of an endpoint that asks for JSON is what the gateway falls back to, not what clients had.
  if (type !== (endpoint.format ?? "json")) return [];
  const reading = readLegacy(Buffer.from(body), xmlReaderFor(endpoint));
  if (reading.is !== "document") return [];
  const { note, changes } = collectChanges();
  const made = transform(endpoint.output, reading.document, note);
  if (!made.ok) return [];
  return changes.flatMap(({ at, rule, before }) => {
    const steps = pointerSteps(at);
    const { place, rules, beside } = placeIn(endpoint.output, steps);
    const change = { place, before, now: valueAt(made.ours, steps) };
    const changing = rules.find(({ name }) => name === rule);
    if (changing === undefined) return [];
    if (rule === "renamed") return [renaming(rules, beside, steps.at(-1) as string, change)];
    if (rule === "unwrapped") return unwrapping(rules, change);
    return [{ ...change, does: changing.does }];
  });
};

const renaming = (
  rules: readonly Rule[],
  beside: readonly string[],
  to: string,
  change: Omit<Change, "does">,
): Change => {
  const { place, before = null, now = null } = change;
  const from = rules[0]?.from ?? to;
  const how = beside.includes(from) ? "the value stands under both names" : "the field has a new name";
  return { does: `\`${from}\` -> \`${to}\`: ${how}`, place, before: { [from]: before }, now: { [to]: now } };
};

/** All levels that are removed at one place count as one change. */
const unwrapping = (rules: readonly Rule[], change: Omit<Change, "does">): Change[] => {
  const wrappers = rules.flatMap(({ wrapper }) => wrapper ?? []);
  // The change of an inner rule begins within the outermost level.
  if (!isObject(change.before) || own(change.before, wrappers[0] as string) === undefined) return [];
  const written = wrappers.reduceRight((within, wrapper) => `{"${wrapper}": ${within}}`, "…");
  return [{ ...change, does: `\`${written}\` -> \`…\`: nesting is removed` }];
};

/** `place` is as a person writes it (`parameter[].value`), `rules` are those of its value, outermost first, `beside` the fields of the object. */
type Place = { place: string; rules: Rule[]; beside: string[] };

/** The place in our document that these steps lead to. A document within one of its kind has the places of the outer one. */
const placeIn = (output: Rule, steps: readonly string[]): Place => {
  const placeOf = new Map<Rule, string>();
  let place = "";
  /** The rules at one place; the innermost one has the members. */
  const rulesAt = (outer: Rule): Rule[] => {
    const repeated = outer.repeats?.();
    place = (repeated && placeOf.get(repeated)) ?? place;
    const rule = repeated ?? outer;
    placeOf.set(rule, place);
    const inner = rule.inside?.[""];
    return [rule, ...(inner ? rulesAt(inner) : [])];
  };
  let rules = rulesAt(output);
  let beside: string[] = [];
  for (const step of steps) {
    const { inside = {} } = rules.at(-1) as Rule;
    const isEntry = inside["*"] !== undefined;
    place = isEntry ? `${place}[]` : place === "" ? step : `${place}.${step}`;
    const inner = isEntry ? inside["*"] : inside[step];
    if (inner === undefined) return { place, rules: [], beside };
    beside = Object.keys(inside);
    rules = rulesAt(inner);
  }
  return { place: place === "" ? WHOLE : place, rules, beside };
};

const valueAt = (document: Json, steps: readonly string[]): Json | undefined =>
  steps.reduce<Json | undefined>(
    (value, step) => (Array.isArray(value) ? value[Number(step)] : own((value ?? {}) as JsonObject, step)),
    document,
  );

/** Of two examples the one that says more, as long as it is shown whole. */
const better = (a: Change, b: Change): Change => (worth(b) > worth(a) ? b : a);

const worth = ({ before, now }: Change): number => {
  const lengths = [before, now].map((value) => JSON.stringify(value)?.length ?? 0);
  const longest = Math.max(...lengths);
  return longest > MAX_VALUE ? -longest : lengths[0] === 0 ? 0 : longest;
};
