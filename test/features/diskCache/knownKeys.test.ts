import fc from "fast-check";
import { expect, test } from "vitest";
import { KnownKeys, numberOf } from "../../../features/diskCache/knownKeys.ts";

const places = 7;

const countAll = (known: KnownKeys, numbers: Iterable<number>): void => {
  known.forget();
  for (const number of numbers) known.add(number);
  known.complete();
};
const keys = fc.string({ maxLength: 4 });

test("a key that is in the file may be in it, whatever came and went before", () => {
  fc.assert(
    fc.property(fc.array(keys), fc.array(fc.tuple(fc.boolean(), keys), { maxLength: 400 }), (first, changes) => {
      const known = new KnownKeys(places * 1024);
      const other = new KnownKeys(known.shared);
      expect(other.mayHave(numberOf("any"))).toBe(true);
      const inFile = new Set(first.map(numberOf));
      countAll(known, inFile);
      for (const [isAdded, key] of changes) {
        const number = numberOf(key);
        if (isAdded === inFile.has(number)) continue;
        if (isAdded) {
          inFile.add(number);
          known.add(number);
        } else {
          inFile.delete(number);
          known.remove(number);
        }
        expect([...inFile].every((each) => other.mayHave(each))).toBe(true);
      }
      for (const number of inFile) known.remove(number);
      expect([...inFile].some((number) => other.mayHave(number))).toBe(false);
    }),
  );
});

test("a place with more keys than it can count is taken until all are counted again", () => {
  const known = new KnownKeys(places * 1024);
  countAll(known, []);
  for (let i = 0; i < 300; i++) {
    known.add(places * i);
    expect(known.mayHave(0)).toBe(true);
  }
  for (let i = 0; i < 300; i++) known.remove(places * i);
  expect([known.mayHave(0), known.mayHave(1)]).toEqual([true, false]);
  known.forget();
  expect(known.mayHave(1)).toBe(true);
  countAll(known, [2]);
  expect([0, 1, 2].map((number) => known.mayHave(number))).toEqual([false, false, true]);
});

test("keys have different numbers of 48 bits", () => {
  const numbers = new Set(Array.from({ length: 100_000 }, (_, i) => numberOf(`getDataset 61?limit=${i}`)));
  expect(numbers.size).toBe(100_000);
  expect(Math.max(...numbers)).toBeLessThan(2 ** 48);
  expect(Math.max(...numbers)).toBeGreaterThan(2 ** 47);
});
