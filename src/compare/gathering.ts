import type { Json } from "../rules/rule.ts";
import { type Difference, sameness } from "./difference.ts";

/** One field that differs. */
export type Found = Omit<Difference, "count">;

/** Gathers the differences of one answer: the same form at the same path is one, with its count. */
export const gathering = (): { add(found: Found): void; differences(): Difference[] } => {
  const byKind = new Map<string, Difference>();
  return {
    add(found) {
      const difference = { ...found, count: 1 };
      const key = sameness(difference);
      const known = byKind.get(key);
      if (known) known.count++;
      else byKind.set(key, difference);
    },
    differences: () => [...byKind.values()].map(shortened),
  };
};

/** Characters of a value's JSON that a difference keeps. */
const MOST = 400;

const shortened = (difference: Difference): Difference => {
  const short = { ...difference };
  for (const side of ["legacy", "expected", "candidate"] as const) {
    const value = short[side];
    if (value === undefined) delete short[side];
    else short[side] = cut(value);
  }
  return short;
};

/** A value, or the beginning of its JSON where it is long. */
export const cut = (value: Json, most = MOST): Json => {
  if (typeof value === "string") return value.length > most ? `${value.slice(0, most)}…` : value;
  if (typeof value !== "object" || value === null) return value;
  const text = JSON.stringify(value);
  return text.length > most ? `${text.slice(0, most)}…` : value;
};
