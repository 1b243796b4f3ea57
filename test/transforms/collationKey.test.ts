import fc from "fast-check";
import { expect, test } from "vitest";
import { collationKey } from "../../transforms/datasetFilters.ts";
import { isSameText } from "../../tools/sampleLegacy/textQuirks.ts";

test.each([
  ["größe", "GROSE", true],
  ["Größe", "grosse", false],
  ["Café", "Cafe\u0301", true],
  ["naïve  ", "NAIVE", true],
  [" naive", "naive", false],
  ["a_b", "a-b", false],
  ["smørrebrød", "smorrebrod", false],
  ["漢字", "漢", false],
  ["", "   ", true],
])("%j and %j are the same to legacy's database: %j", (a, b, isSame) => {
  expect(collationKey(a) === collationKey(b)).toBe(isSame);
  expect(isSameText(a, b.normalize("NFC"))).toBe(isSame);
});

test("texts are the same as to the sample legacy", () => {
  const near = fc.string({ unit: fc.constantFrom(...Array.from("aàáAÀbBsßSeéEÉøo ")), maxLength: 4 });
  fc.assert(
    fc.property(near, near, (first, second) => {
      expect(collationKey(first) === collationKey(second)).toBe(isSameText(first, second));
    }),
    { numRuns: 1000 },
  );
});
