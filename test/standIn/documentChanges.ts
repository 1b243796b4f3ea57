import type { DifferenceKind } from "../../src/compare/difference.ts";
import { childPointer } from "../../src/compare/pointer.ts";
import { isObject, type Json } from "../../src/rules/rule.ts";
import type { DocumentFault } from "./fault.ts";
import type { Place } from "./places.ts";

/** What stands somewhere instead; `undefined` for nothing. `seenBelow`: the comparer tells it of the entries of this list. */
export type Change = { path: string; at: string; value: Json | undefined; seenBelow?: true };

/** How a fault of a document is seen, and what it makes of a place; `undefined` where it does not fit. */
type Kind = {
  form: DifferenceKind;
  change(place: Place, name?: string): Change | undefined;
  /** Whether it picks such a place by itself. */
  picks(place: Place): boolean;
};

const isContainer = (value: Json): boolean => typeof value === "object" && value !== null;
const isValue = ({ value }: Place): boolean => !isContainer(value) && value !== null;
const instead = ({ path, at }: Place, value: Json | undefined): Change => ({ path, at, value });

/** Far from every id and count of the catalogue, so that no entry is taken for another. */
const FAR = 1_000_003;
const NO_TEXT = 987_654_321;

const otherType = (value: Json): Json => {
  if (Array.isArray(value))
    return value.length === 1 && typeof value[0] !== "object" ? String(value[0]) : { entry: value };
  if (isObject(value)) return [value];
  if (typeof value === "string") return /^\d{1,15}$/.test(value) ? Number(value) : NO_TEXT;
  return String(value);
};

const otherValue = (value: Json): Json => {
  if (typeof value === "string") return `${value} (other)`;
  if (typeof value === "number") return Math.abs(value) < 2 ** 40 ? value + FAR : -value;
  return value !== true;
};

/** What the comparer knows an entry by: its first field, or its whole value. */
const identityOf = (entry: Json): string => {
  const known = isObject(entry) ? (Object.values(entry)[0] ?? entry) : entry;
  return typeof known === "object" ? JSON.stringify(known) : String(known);
};

/** Entries that are told apart: only then is another order nothing but that. */
const areDistinct = (entries: readonly Json[]): boolean => new Set(entries.map(identityOf)).size === entries.length;

/** A field that no rule knows. */
const EXTRA = "internal_id";

export const documentChanges: Record<DocumentFault, Kind> = {
  wrongType: {
    form: "type",
    change: (place) => (place.value === null ? undefined : instead(place, otherType(place.value))),
    picks: isValue,
  },
  missingField: {
    form: "missing",
    change: (place) => (place.isField ? instead(place, undefined) : undefined),
    picks: ({ value }) => !isContainer(value),
  },
  extraField: {
    form: "extra",
    change: ({ value, path, at }, name = EXTRA) =>
      isObject(value) && !Object.hasOwn(value, name)
        ? { path: childPointer(path, name), at: childPointer(at, name), value: FAR }
        : undefined,
    picks: ({ path }) => path === "" || path === "/*",
  },
  emptyForNull: {
    form: "type",
    change: (place) => (place.value === null ? instead(place, "") : undefined),
    picks: () => true,
  },
  otherValue: {
    form: "value",
    change: (place) => (isValue(place) ? instead(place, otherValue(place.value)) : undefined),
    picks: () => true,
  },
  reorderedList: {
    form: "order",
    change: (place) =>
      Array.isArray(place.value) && place.value.length > 1 && areDistinct(place.value)
        ? instead(place, place.value.toReversed())
        : undefined,
    picks: () => true,
  },
  lostEntry: {
    form: "missing",
    change(place) {
      const { value } = place;
      if (!Array.isArray(value) || value.length === 0) return undefined;
      // Of entries that are the same thing the last one is missed.
      const lost = areDistinct(value) ? value.length >> 1 : value.length - 1;
      return { ...instead(place, value.toSpliced(lost, 1)), seenBelow: true };
    },
    picks: () => true,
  },
};
