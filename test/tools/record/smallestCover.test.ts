import fc from "fast-check";
import { expect, test } from "vitest";
import { type CoverCandidate, smallestCover } from "../../../src/tools/record/smallestCover.ts";

const candidate = (id: string, variants: string) => ({ id, variants: new Set(variants) });

test.each([
  ["nothing of nothing", [], []],
  ["nothing of those without variants", [candidate("a", "")], []],
  ["the one that has all", [candidate("a", "x"), candidate("b", "xy"), candidate("c", "y")], ["b"]],
  ["the first of those that are the same", [candidate("a", "xy"), candidate("b", "xy")], ["a"]],
  [
    "not the largest, where later ones make it needless",
    [candidate("a", "bcde"), candidate("b", "abc"), candidate("c", "def")],
    ["b", "c"],
  ],
])("%s", (_, candidates, expected) => {
  expect(smallestCover(candidates)).toEqual(expected);
});

const variantsIn = (candidates: CoverCandidate<number>[]) =>
  new Set(candidates.flatMap(({ variants }) => [...variants]));

/** The size of the smallest cover there is, by trying all. */
const smallestSize = (candidates: CoverCandidate<number>[]): number => {
  const all = variantsIn(candidates).size;
  const sizes = Array.from({ length: 2 ** candidates.length }, (_, bits) =>
    candidates.filter((__, i) => bits & (1 << i)),
  )
    .filter((some) => variantsIn(some).size === all)
    .map((some) => some.length);
  return Math.min(...sizes);
};

test("it covers all variants, has no needless member, and is near the smallest", () => {
  const variants = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h"), { maxLength: 5 });
  fc.assert(
    fc.property(fc.array(variants, { maxLength: 9 }), (sets) => {
      const candidates = sets.map((one, id) => ({ id, variants: new Set(one) }));
      const ids = smallestCover(candidates);
      const chosen = candidates.filter(({ id }) => ids.includes(id));
      expect(variantsIn(chosen)).toEqual(variantsIn(candidates));
      for (const one of chosen)
        expect(variantsIn(chosen.filter((other) => other !== one)).size).toBeLessThan(variantsIn(chosen).size);
      expect(ids.length).toBeLessThanOrEqual(smallestSize(candidates) * (1 + Math.log(5)));
    }),
  );
});
