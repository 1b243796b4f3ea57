import { expect, test } from "vitest";
import { findRows } from "../../src/reading/findRows.ts";

const rows = { begins: /<oml:did>(\d+)<\/oml:did><oml:name>/g, ends: /<\/oml:data>$/ };
const row = (id: number, name: string) => `<oml:did>${id}</oml:did><oml:name>${name}</oml:name>`;

test.each([
  ["a text", "a & b <i>", false],
  ["a control character", "a\u0001", true],
  ["a tag of legacy's in a text", "a<oml:b>", true],
  ["17 MB", "a".repeat(17 * 1024 ** 2), false],
])("whether a row's text may break the parser is seen in any text: %s", (_, name, isOdd) => {
  const { places, isWhole } = findRows(rows, Buffer.from(`${row(1, name)}${row(2, "b")}</oml:data>`));
  expect([isWhole, ...places.map((place) => [place.id, place.isOdd])]).toEqual([true, [1, isOdd], [2, false]]);
});

test("a text that never ends is odd, however long it is", () => {
  const { places } = findRows(rows, Buffer.from(`<oml:did>1</oml:did><oml:name>${"a".repeat(17 * 1024 ** 2)}`));
  expect(places.map(({ isOdd }) => isOdd)).toEqual([true]);
});
