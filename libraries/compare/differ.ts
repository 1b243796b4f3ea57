import {
  childPointer,
  type Facets,
  facetsOf,
  isObject,
  type Json,
  memberOf,
  type Rule,
} from "../../src/catalogue/index.ts";
import { type DifferenceForm, differenceFormOf } from "./difference.ts";
import { pairEntries } from "./pairing.ts";

/**
 * A place of two documents. `form`: their difference there, if there is one. `allowedBy`: the rule that ignores the
 * difference.
 */
export type ComparedPlace = {
  path: string;
  /** The pointer in the expected document, or in the candidate's if only that has the place. */
  at: string;
  form?: DifferenceForm;
  allowedBy?: string;
  expected?: Json;
  candidate?: Json;
};

/** Called for every place; for a place with members (`isLeaf` false) before its members. */
type VisitCompared = (place: ComparedPlace, isLeaf: boolean) => void;

/**
 * Compares a candidate's document with the expected document, place by place, until `isOver`. Without a rule the order
 * of every list counts.
 */
export const differ = (
  rule: Rule | undefined,
  expected: Json | undefined,
  candidate: Json | undefined,
  visit: VisitCompared,
  isOver: () => boolean = () => false,
): void => compare({ facets: rule && facetsOf(rule), path: "", at: "", expected, candidate }, visit, isOver);

type PlaceToCompare = { facets: Facets | undefined; path: string; at: string; expected?: Json; candidate?: Json };

const compare = ({ facets, ...place }: PlaceToCompare, visit: VisitCompared, isOver: () => boolean): void => {
  const { path, at, expected, candidate } = place;
  if (Array.isArray(expected) && Array.isArray(candidate)) {
    const entry = facets?.entries && facetsOf(facets.entries);
    const { pairs, missing, extra, inOrder } = pairEntries(expected, candidate, entry);
    visit(
      inOrder ? place : { ...place, form: "order", ...(facets?.anyOrder ? { allowedBy: facets.anyOrder.name } : {}) },
      false,
    );
    const step = (i: number) => ({ path: `${path}/*`, at: `${at}/${i}` });
    for (const [i, j] of pairs) {
      if (isOver()) return;
      compare({ facets: entry, ...step(i), expected: expected[i], candidate: candidate[j] }, visit, isOver);
    }
    for (const i of missing) visit({ ...step(i), form: "missing", expected: expected[i] }, true);
    for (const j of extra) visit({ ...step(j), form: "extra", candidate: candidate[j] }, true);
  } else if (isObject(expected) && isObject(candidate)) {
    visit(place, false);
    for (const key of new Set([...Object.keys(expected), ...Object.keys(candidate)])) {
      if (isOver()) return;
      const inner = facets && memberOf(facets, key);
      const member = {
        path: childPointer(path, key),
        at: childPointer(at, key),
        ...(Object.hasOwn(expected, key) ? { expected: expected[key] as Json } : {}),
        ...(Object.hasOwn(candidate, key) ? { candidate: candidate[key] as Json } : {}),
      };
      compare({ facets: inner && facetsOf(inner), ...member }, visit, isOver);
    }
  } else {
    const form = differenceFormOf(expected, candidate);
    visit(form ? { ...place, form } : place, true);
  }
};
