import { describe, expect, test } from "vitest";
import { identifierOr, identifiers, range } from "../src/endpoint/field.ts";
import { get, getSegments } from "../src/endpoint/legacyRequest.ts";

describe("a range", () => {
  test.each([
    ["5", true],
    ["0..0", true],
    ["007..7", true],
    ["9..10", true],
    [`9..${"9".repeat(100_000)}`, true],
    ["10..9", false],
    [`1${"0".repeat(100_000)}..9`, false],
    ["5..", false],
    ["..5", false],
    ["-5", false],
    ["1.5", false],
    ["", false],
  ])("%.20s", (text, good) => {
    expect("value" in range.fromText(text)).toBe(good);
  });
});

test("ids that cannot exist are left out of a list, and it may then be empty", () => {
  expect(identifiers(3).fromText("5,0,5")).toEqual({ value: [5] });
  expect(identifiers(3).fromJson([0, -1])).toEqual({ value: [] });
  expect(identifiers(3).possible?.([])).toBe(false);
  expect(identifiers(3).fromJson([1, 2, 3, 4])).toHaveProperty("problems");
});

test.each(["..", ".", "a/b", 'a"b', "", "a".repeat(65), 0, -1, 2 ** 31])("%s names no study", (value) => {
  expect(identifierOr(/^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,64}$/).possible?.(value)).toBe(false);
});

describe("what is asked of legacy", () => {
  test.each([
    ["a value never becomes a path", get`/data/${"1/../2"}`, { method: "GET", path: "/data/1%2F..%2F2" }],
    ["nor a query", get`/study/${"a?b#c"}`, { method: "GET", path: "/study/a%3Fb%23c" }],
    [
      "what legacy's front lets through stays as it is",
      get`/x/${"Az09~.:_(),-"}`,
      { method: "GET", path: "/x/Az09~.:_(),-" },
    ],
    [
      "segments are escaped too",
      getSegments(["data", "list", "data_name", "a b"]),
      { method: "GET", path: "/data/list/data_name/a%20b" },
    ],
  ])("%s", (_, request, expected) => {
    expect(request).toEqual(expected);
  });

  test.each([
    [get`/study/${".."}`],
    [get`/study/${""}`],
    [getSegments(["data", "list", "tag", "."])],
    [getSegments(["data", "a".repeat(8000)])],
  ])("what a server would resolve, collapse or refuse is not sent", (request) => {
    expect(request).toHaveProperty("unsent");
  });
});
