import fc from "fast-check";
import { expect, test } from "vitest";
import { repeatedMembers } from "../../../src/catalogue/endpoint/repeatedMembers.ts";

test.each([
  ["{}", []],
  ['{"a": 1, "b": {"a": 1}}', []],
  ['{"a": 1, "b": 2, "a": 3, "a": 4}', [["a"], ["a"]]],
  [String.raw`{"a\"": 1, "a\\": 2, "a\u005c" : 3}`, [["a\\"]]],
  ['{"p": {"x": 1, "x": 2}, "q": {"x": 1}}', [["p", "x"]]],
  ['{"p": {"q": {"x": 1, "x": 2}}, "l": [{"x": 1, "x": 2}]}', []],
  ['[{"x": 1, "x": 2}]', []],
  ['"a"', []],
])("%s", (json, places) => {
  expect(repeatedMembers(json)).toEqual(places);
});

const name = fc.oneof(fc.constantFrom("a", "b", '"', "\\", '\\"', ":", "{"), fc.string({ maxLength: 4 }));
const value = fc.jsonValue({ maxDepth: 3 }).map((json) => JSON.stringify(json));

test("what JSON.parse would hide is found, whatever the names and values are", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, value), { maxLength: 8 }),
      fc.constantFrom("", " ", "\n\t"),
      (members, blank) => {
        const json = `{${blank}${members.map(([key, text]) => `${JSON.stringify(key)}${blank}:${blank}${text}`).join(`${blank},`)}}`;
        const names = members.map(([key]) => key);
        const outermost = repeatedMembers(json).filter((place) => place.length === 1);
        expect(outermost).toEqual(names.filter((key, i) => names.indexOf(key) < i).map((key) => [key]));
      },
    ),
  );
});
