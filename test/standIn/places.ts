import { childPointer, pointerSteps } from "../../src/compare/pointer.ts";
import { isObject, type Json } from "../../src/rules/rule.ts";

/** One place of a document. */
export type Place = {
  /** With `*` for list indices, as the comparer writes it. */
  path: string;
  /** With its indices. */
  at: string;
  value: Json;
  /** It is the member of an object, not the entry of a list nor the whole. */
  isField: boolean;
};

/** Every place of a document, the outer before the inner. */
export const placesOf = (document: Json): Place[] => {
  const places: Place[] = [];
  const visit = (place: Place) => {
    places.push(place);
    const { path, at, value } = place;
    if (Array.isArray(value))
      for (const [i, entry] of value.entries())
        visit({ path: `${path}/*`, at: childPointer(at, i), value: entry, isField: false });
    else if (isObject(value))
      for (const [key, member] of Object.entries(value))
        visit({ path: childPointer(path, key), at: childPointer(at, key), value: member, isField: true });
  };
  visit({ path: "", at: "", value: document, isField: false });
  return places;
};

/** Whether a pointer means this place: a `*` any entry of a list, an index that one. */
export const isMeant = (pointer: string, { path, at }: Pick<Place, "path" | "at">): boolean => {
  if (pointer === path || pointer === at) return true;
  const [wanted, exact, general] = [pointer, at, path].map(pointerSteps) as [string[], string[], string[]];
  return (
    wanted.length === exact.length &&
    wanted.every((step, i) => step === exact[i] || (step === "*" && general[i] === "*"))
  );
};

/** Whether one place lies within the other, or is the same. */
export const isAround = (outer: string, inner: string): boolean => inner === outer || inner.startsWith(`${outer}/`);
