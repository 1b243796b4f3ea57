import { isObject, type Json } from "../rules/rule.ts";
import type { Facets } from "./facets.ts";

/** Which entry of one list stands for which of the other, by their indices; what is left over on either side; whether the order is the same. */
type Pairing = { pairs: [number, number][]; missing: number[]; extra: number[]; inOrder: boolean };

/** What an entry is known by: the first field that an object has by its rules (an id, a name), or else the whole value. */
const identityBy = (entry: Facets | undefined, first: Json | undefined): ((value: Json) => string) => {
  const name = Object.keys(entry?.fields ?? (isObject(first) ? first : {}))[0];
  return (value) => {
    const known = name !== undefined && isObject(value) && Object.hasOwn(value, name) ? value[name] : value;
    // `"61"` is the same thing as `61`, badly written: a difference of that entry, not another entry.
    return typeof known === "object" ? JSON.stringify(known) : String(known);
  };
};

/** Pairs the entries that are the same thing, so that one entry too many is one difference; then, by order, those that are not. */
export const pairEntries = (
  expected: readonly Json[],
  candidate: readonly Json[],
  entry: Facets | undefined,
): Pairing => {
  const identity = identityBy(entry, expected[0] ?? candidate[0]);
  const free = new Map<string, number[]>();
  for (let i = candidate.length - 1; i >= 0; i--) {
    const id = identity(candidate[i] as Json);
    const there = free.get(id);
    if (there) there.push(i);
    else free.set(id, [i]);
  }
  const pairs: [number, number][] = [];
  const missing: number[] = [];
  let last = -1;
  let inOrder = true;
  for (const [i, value] of expected.entries()) {
    const match = free.get(identity(value))?.pop();
    if (match === undefined) missing.push(i);
    else {
      inOrder &&= match > last;
      last = match;
      pairs.push([i, match]);
    }
  }
  const extra = [...free.values()].flat().toSorted((a, b) => a - b);
  const others = Math.min(missing.length, extra.length);
  for (let i = 0; i < others; i++) pairs.push([missing[i] as number, extra[i] as number]);
  return {
    pairs: others > 0 ? pairs.toSorted(([a], [b]) => a - b) : pairs,
    missing: missing.slice(others),
    extra: extra.slice(others),
    inOrder,
  };
};
