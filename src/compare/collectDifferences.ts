import type { Json } from "../rules/rule.ts";
import { truncate } from "../scrub/truncate.ts";
import { type Difference, differenceKey } from "./difference.ts";

/** One field that differs. */
export type FoundDifference = Omit<Difference, "count">;

/** Collects the differences of one answer: those of one kind at one path are counted as one. */
export const collectDifferences = (): { add: (found: FoundDifference) => void; differences: () => Difference[] } => {
  const byKind = new Map<string, Difference>();
  return {
    add: (found) => {
      const difference = { ...found, count: 1 };
      const key = differenceKey(difference);
      const known = byKind.get(key);
      if (known) known.count++;
      else byKind.set(key, difference);
    },
    differences: () => [...byKind.values()].map(withShortValues),
  };
};

/** Characters of a value's JSON. */
const MAX_VALUE = 400;

const withShortValues = (difference: Difference): Difference => {
  const short = { ...difference };
  for (const side of ["legacy", "expected", "candidate"] as const) {
    const value = short[side];
    if (value === undefined) delete short[side];
    else short[side] = cut(value);
  }
  return short;
};

/** A value, or the beginning of its text or JSON if it is long. */
const cut = (value: Json): Json => {
  if (typeof value === "string") return truncate(value, MAX_VALUE);
  if (typeof value !== "object" || value === null) return value;
  const json = JSON.stringify(value);
  return json.length > MAX_VALUE ? truncate(json, MAX_VALUE) : value;
};
