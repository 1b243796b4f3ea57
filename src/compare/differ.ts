import { isObject, type Json, type Rule } from "../rules/rule.ts";
import { type DifferenceKind, differenceKindOf } from "./difference.ts";
import { type Facets, facetsOf, memberOf } from "./facets.ts";
import { pairEntries } from "./pairing.ts";
import { childPointer } from "./pointer.ts";

/** One place of two documents of the new interface; `form` where they differ there, `allowedBy` a rule that makes nothing of it. */
export type ComparedPlace = {
  path: string;
  /** Its place in the expected document; in the candidate's, where only that has it. */
  at: string;
  form?: DifferenceKind;
  allowedBy?: string;
  expected?: Json;
  candidate?: Json;
};

/** Told of every place: of those with members of their own (`isLeaf` false) before their members. */
type VisitCompared = (place: ComparedPlace, isLeaf: boolean) => void;

/** Holds a candidate's document against the expected one, place by place. Without a rule no order is free. */
export const differ = (
  rule: Rule | undefined,
  expected: Json | undefined,
  candidate: Json | undefined,
  tell: VisitCompared,
): void => compare({ facets: rule && facetsOf(rule), path: "", at: "", expected, candidate }, tell);

type Place = { facets: Facets | undefined; path: string; at: string; expected?: Json; candidate?: Json };

const compare = ({ facets, ...place }: Place, tell: VisitCompared): void => {
  const { path, at, expected, candidate } = place;
  if (Array.isArray(expected) && Array.isArray(candidate)) {
    const entry = facets?.entries && facetsOf(facets.entries);
    const { pairs, missing, extra, inOrder } = pairEntries(expected, candidate, entry);
    tell(
      inOrder ? place : { ...place, form: "order", ...(facets?.anyOrder ? { allowedBy: facets.anyOrder.name } : {}) },
      false,
    );
    const step = (i: number) => ({ path: `${path}/*`, at: `${at}/${i}` });
    for (const [i, j] of pairs)
      compare({ facets: entry, ...step(i), expected: expected[i], candidate: candidate[j] }, tell);
    for (const i of missing) tell({ ...step(i), form: "missing", expected: expected[i] }, true);
    for (const j of extra) tell({ ...step(j), form: "extra", candidate: candidate[j] }, true);
  } else if (isObject(expected) && isObject(candidate)) {
    tell(place, false);
    for (const key of new Set([...Object.keys(expected), ...Object.keys(candidate)])) {
      const inner = facets && memberOf(facets, key);
      const member = {
        path: childPointer(path, key),
        at: childPointer(at, key),
        ...(Object.hasOwn(expected, key) ? { expected: expected[key] as Json } : {}),
        ...(Object.hasOwn(candidate, key) ? { candidate: candidate[key] as Json } : {}),
      };
      compare({ facets: inner && facetsOf(inner), ...member }, tell);
    }
  } else {
    const form = differenceKindOf(expected, candidate);
    tell(form ? { ...place, form } : place, true);
  }
};
