import fc from "fast-check";
import { expect, test } from "vitest";
import { openIdSet } from "../../../src/features/privateDatasets/idSet.ts";

test("bits are the set of what was added, and still are when they were text", () => {
  const number = fc.oneof(fc.nat(70), fc.nat(50_000));
  fc.assert(
    fc.property(fc.array(number), fc.array(number), fc.array(number), (before, after, others) => {
      const bits = openIdSet();
      for (const n of before) bits.add(n);
      const again = openIdSet(bits.toText());
      const known = new Set([...before, ...after]);
      for (const n of after) again.add(n);
      for (const n of [...known, ...others].flatMap((one) => [one, one + 1, one + 8]))
        expect([n, again.has(n)]).toEqual([n, known.has(n)]);
      // What became of the copy is not its business.
      for (const n of others) expect(bits.has(n)).toBe(before.includes(n));
    }),
  );
});

test("none are no text, and the lowest bit is the first", () => {
  expect([openIdSet().toText(), openIdSet("").has(0), openIdSet("").has(1e6)]).toEqual(["", false, false]);
  const bits = openIdSet();
  for (const n of [0, 9, 15]) bits.add(n);
  expect([...Buffer.from(bits.toText(), "base64")]).toEqual([1, 0b1000_0010]);
});
