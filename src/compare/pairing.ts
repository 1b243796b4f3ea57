import { isObject, type Json } from "../rules/rule.ts";
import type { Facets } from "./facets.ts";

/** The indices of entries that belong together, those of entries without a partner, and whether the order is the same. */
type Pairing = { pairs: [number, number][]; missing: number[]; extra: number[]; inOrder: boolean };

/** Identifies an entry: by the first field that its rule names (an id, a name), else by the whole value. */
const identityBy = (entry: Facets | undefined, first: Json | undefined): ((value: Json) => string) => {
  const name = Object.keys(entry?.fields ?? (isObject(first) ? first : {}))[0];
  return (value) => {
    const known = name !== undefined && isObject(value) && Object.hasOwn(value, name) ? value[name] : value;
    // `"61"` and `61` identify the same entry, whose id then differs.
    return typeof known === "object" ? JSON.stringify(known) : String(known);
  };
};

/** Pairs entries of equal identity, so that one additional entry is one difference; then the others in their order. */
export const pairEntries = (
  expected: readonly Json[],
  candidate: readonly Json[],
  entry: Facets | undefined,
): Pairing => {
  const identity = identityBy(entry, expected[0] ?? candidate[0]);
  const unpaired = new Map<string, number[]>();
  for (let i = candidate.length - 1; i >= 0; i--) {
    const id = identity(candidate[i] as Json);
    const there = unpaired.get(id);
    if (there) there.push(i);
    else unpaired.set(id, [i]);
  }
  const pairs: [number, number][] = [];
  const missing: number[] = [];
  let last = -1;
  let inOrder = true;
  for (const [i, value] of expected.entries()) {
    const match = unpaired.get(identity(value))?.pop();
    if (match === undefined) missing.push(i);
    else {
      inOrder &&= match > last;
      last = match;
      pairs.push([i, match]);
    }
  }
  const extra = [...unpaired.values()].flat().toSorted((a, b) => a - b);
  const others = Math.min(missing.length, extra.length);
  for (let i = 0; i < others; i++) pairs.push([missing[i] as number, extra[i] as number]);
  return {
    pairs: others > 0 ? pairs.toSorted(([a], [b]) => a - b) : pairs,
    missing: missing.slice(others),
    extra: extra.slice(others),
    inOrder,
  };
};
