import { type Facets, isObject, type Json } from "../../src/catalogue/index.ts";

/**
 * The pairs of entries by their indices, the entries without a partner, and `inOrder`: both sides have the same order.
 */
type Pairing = { pairs: [number, number][]; missing: number[]; extra: number[]; inOrder: boolean };

type Identity = (value: Json) => string;

/** The most first fields that are tried before all fields are used: each try reads all entries. */
const MAX_TRIED = 4;

// `"61"` and `61` identify the same entry, whose id then differs.
const identifierOf = (value: Json): string => (typeof value === "object" ? JSON.stringify(value) : String(value));

/** Identifies an entry by these fields; if it does not have the first of them, by its whole value. */
const identityBy =
  ([first, ...others]: readonly string[]): Identity =>
  (value) => {
    if (first === undefined || !isObject(value) || !Object.hasOwn(value, first)) return identifierOf(value);
    const identifier = identifierOf(value[first] as Json);
    if (others.length === 0) return identifier;
    return JSON.stringify([identifier, ...others.map((name) => identifierOf(value[name] ?? null))]);
  };

/**
 * The identities to pair entries by, the most exact first. The last identity is the first field that the entries' rule
 * names (an id, a name). If entries share it, an identity of as many first fields as distinguish them comes before it.
 */
const identitiesOf = (entries: readonly Json[], entry: Facets | undefined): Identity[] => {
  const names = Object.keys(entry?.fields ?? (isObject(entries[0]) ? entries[0] : {}));
  const isUnique = (identity: Identity) => new Set(entries.map(identity)).size === entries.length;
  const byFirst = identityBy(names.slice(0, 1));
  if (names.length < 2 || isUnique(byFirst)) return [byFirst];
  for (let count = 2; count < Math.min(names.length, MAX_TRIED + 1); count++) {
    const identity = identityBy(names.slice(0, count));
    if (isUnique(identity)) return [identity, byFirst];
  }
  return [identityBy(names), byFirst];
};

/** Pairs entries of equal identity, so that an extra entry is a single difference; then the others in their order. */
export const pairEntries = (
  expected: readonly Json[],
  candidate: readonly Json[],
  entry: Facets | undefined,
): Pairing => {
  const pairs: [number, number][] = [];
  let missing = [...expected.keys()];
  let extra = [...candidate.keys()];
  for (const identity of identitiesOf(expected.length > 0 ? expected : candidate, entry)) {
    const unpaired = Map.groupBy(extra.toReversed(), (j) => identity(candidate[j] as Json));
    missing = missing.filter((i) => {
      const match = unpaired.get(identity(expected[i] as Json))?.pop();
      if (match !== undefined) pairs.push([i, match]);
      return match === undefined;
    });
    extra = [...unpaired.values()].flat().toSorted((a, b) => a - b);
  }
  pairs.sort(([a], [b]) => a - b);
  const inOrder = pairs.every(([, match], k) => k === 0 || match > (pairs[k - 1] as [number, number])[1]);
  const others = Math.min(missing.length, extra.length);
  for (let i = 0; i < others; i++) pairs.push([missing[i] as number, extra[i] as number]);
  return {
    pairs: others > 0 ? pairs.toSorted(([a], [b]) => a - b) : pairs,
    missing: missing.slice(others),
    extra: extra.slice(others),
    inOrder,
  };
};
