import type { Json } from "../../src/catalogue/index.ts";
import { truncate } from "../../src/operation/index.ts";
import { type Difference, differenceKey, OTHER_PATHS } from "./difference.ts";

/** A field that differs. */
export type FoundDifference = Omit<Difference, "count">;

/** The most differences of an answer that are counted separately. */
const MAX_DIFFERENCES = 300;

/**
 * Collects the differences of an answer. Differences of the same kind at the same path are counted together; beyond a
 * bound, those of the same kind and form at all other paths are.
 */
export const collectDifferences = () => {
  const byKind = new Map<string, Difference>();
  let isFull = false;
  return {
    add(this: void, difference: FoundDifference): void {
      const key = differenceKey(difference);
      const known = byKind.get(key);
      if (known !== undefined) known.count++;
      else if (byKind.size < MAX_DIFFERENCES) byKind.set(key, { ...difference, count: 1 });
      else {
        const { form, kind, at } = difference;
        const none: Difference = { path: OTHER_PATHS, at, form, kind, count: 0 };
        const others = byKind.get(differenceKey(none)) ?? none;
        byKind.set(differenceKey(none), others);
        others.count++;
        isFull ||= kind === "unexplained";
      }
    },
    /** True if no further difference changes the result of the answer. */
    isFull: (): boolean => isFull,
    differences: (): Difference[] => [...byKind.values()].map(withShortValues),
  };
};

/** The most characters of a value's JSON. */
const MAX_VALUE = 400;

const withShortValues = ({ legacy, expected, candidate, ...difference }: Difference): Difference => {
  const values = Object.entries({ legacy, expected, candidate });
  const shortened = values.flatMap(([side, value]) => (value === undefined ? [] : [[side, cut(value)]]));
  return { ...difference, ...Object.fromEntries(shortened) };
};

/** A value, or the beginning of its text or JSON if it is long. */
const cut = (value: Json): Json => {
  if (typeof value === "string") return truncate(value, MAX_VALUE);
  if (typeof value !== "object" || value === null) return value;
  const json = JSON.stringify(value);
  return json.length > MAX_VALUE ? truncate(json, MAX_VALUE) : value;
};
