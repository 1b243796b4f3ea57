import type { Json } from "../rules/rule.ts";
import { truncate } from "../scrub/truncate.ts";
import { type Difference, differenceKey } from "./difference.ts";

/** One field that differs. */
export type FoundDifference = Omit<Difference, "count">;

/** Collects the differences of one answer: those of one kind at one path are counted as one. */
export const collectDifferences = (): { add: (found: FoundDifference) => void; differences: () => Difference[] } => {
  const byKind = new Map<string, Difference>();
  return {
    add(found) {
      const difference = { ...found, count: 0 };
      byKind.getOrInsert(differenceKey(difference), difference).count++;
    },
    differences: () => [...byKind.values()].map(withShortValues),
  };
};

/** Characters of a value's JSON. */
const MAX_VALUE = 400;

const withShortValues = ({ legacy, expected, candidate, ...difference }: Difference): Difference => {
  const values = Object.entries({ legacy, expected, candidate });
  const given = values.flatMap(([side, value]) => (value === undefined ? [] : [[side, cut(value)]]));
  return { ...difference, ...Object.fromEntries(given) };
};

/** A value, or the beginning of its text or JSON if it is long. */
const cut = (value: Json): Json => {
  if (typeof value === "string") return truncate(value, MAX_VALUE);
  if (typeof value !== "object" || value === null) return value;
  const json = JSON.stringify(value);
  return json.length > MAX_VALUE ? truncate(json, MAX_VALUE) : value;
};
