import { describe, expect, test } from "vitest";
import { identifierList, identifierOr, identifiers, range } from "../../../src/catalogue/endpoint/field.ts";
import type { Json } from "../../../src/catalogue/rules/rule.ts";
import { get, getSegments } from "../../../src/catalogue/endpoint/legacyRequest.ts";

describe("a range", () => {
  test.each([
    ["5", true],
    [`9..${"9".repeat(37)}`, true],
    [`${"0".repeat(100_000)}9..10`, true],
    [`9..${"9".repeat(38)}`, false],
    [`9..${"9".repeat(100_000)}`, false],
    ["10..9", false],
    [`1${"0".repeat(100_000)}..9`, false],
    ["..5", false],
    ["", false],
  ])("the range %.20s is valid: %s", (text, good) => {
    expect(range.fromText(text).ok).toBe(good);
  });

  test.each([
    ["0100..0200", "100..200"],
    ["0..00", "0..0"],
  ])("the range %s is read as %s", (text, value) => expect(range.fromText(text)).toEqual({ ok: true, value }));

  test("a range with more digits than legacy's path has room for is refused", () => {
    expect(range.fromText("9".repeat(8000))).toMatchObject({ problems: [{ type: "value_error.any_str.max_length" }] });
    expect(range.fromJson(1e300)).toMatchObject({ problems: [{ type: "value_error.number.not_le" }] });
    expect(range.fromJson(10 ** 15)).toEqual({ ok: true, value: "1000000000000000" });
  });
});

test("a list of ids loses ids that cannot exist, and may become empty", () => {
  expect(identifiers(3, 10).fromText("5,0,5")).toEqual({ ok: true, value: [5] });
  expect(identifiers(3, 10).fromJson([0, -1])).toEqual({ ok: true, value: [] });
  expect(identifiers(3, 10).possible?.([])).toBe(false);
  expect(identifiers(3, 10).fromJson([])).toMatchObject({ problems: [{ type: "value_error.list.min_items" }] });
  expect(identifiers(3, 10).fromJson([1, 2, 3, 4])).toHaveProperty("problems");
  expect(identifiers(3, 10).fromText("1111,22222")).toEqual({ ok: true, value: [1111, 22222] });
  expect(identifiers(3, 10).fromText("11111,22222")).toMatchObject({
    problems: [{ type: "value_error.any_str.max_length" }],
  });
});

describe("a list of ids to write", () => {
  const field = identifierList(1, 3);
  test.each<[Json, object]>([
    [[3, 1, 3], { ok: true, value: [3, 1, 3] }],
    [[], { problems: [{ at: [], type: "value_error.list.min_items" }] }],
    [[1, 2, 3, 4], { problems: [{ at: [], type: "value_error.list.max_items" }] }],
    [[1, 0, 2 ** 31], { problems: [{ at: [1], type: "value_error.number.not_ge" }, { at: [2] }] }],
    [["1"], { problems: [{ at: [0], type: "type_error.integer" }] }],
  ])("a list of one to three ids to write is read from %j", (json, reading) =>
    expect(field.fromJson(json)).toMatchObject(reading),
  );

  test("a list of ids to write is separated by commas in a text", () => {
    expect(field.fromText("5,6,5")).toEqual({ ok: true, value: [5, 6, 5] });
    expect(field.fromText("5,x")).toMatchObject({ problems: [{ at: [1], type: "type_error.integer" }] });
  });

  test("a list of ten thousand ids is read; a longer one is refused unread", () => {
    const many = identifierList(0, 10_000);
    const ids = Array.from({ length: 10_000 }, (_, i) => i + 1);
    expect(many.fromJson(ids)).toEqual({ ok: true, value: ids });
    expect(many.fromJson([...ids, "no id"])).toMatchObject({ problems: [{ type: "value_error.list.max_items" }] });
    expect(many.fromJson([])).toEqual({ ok: true, value: [] });
  });
});

test.each(["..", ".", "a/b", 'a"b', "", "a".repeat(65), 0, -1, 2 ** 31])(
  "no study can have the id or alias %s",
  (value) => {
    expect(identifierOr(/^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,64}$/).possible?.(value)).toBe(false);
  },
);

describe("the requests to legacy", () => {
  test.each([
    ["a value never becomes a path", get`/data/${"1/../2"}`, { method: "GET", path: "/data/1%2F..%2F2" }],
    ["a value never becomes a query", get`/study/${"a?b#c"}`, { method: "GET", path: "/study/a%3Fb%23c" }],
    [
      "characters that legacy's front accepts are not escaped",
      get`/x/${"Az09~.:_(),-"}`,
      { method: "GET", path: "/x/Az09~.:_(),-" },
    ],
    [
      "segments of a list's filters are escaped",
      getSegments(["data", "list", "data_name", "a b"]),
      { method: "GET", path: "/data/list/data_name/a%20b" },
    ],
  ])("in a request to legacy %s", (_, request, expected) => {
    expect(request).toEqual(expected);
  });

  test.each([
    [get`/study/${".."}`],
    [get`/study/${""}`],
    [getSegments(["data", "list", "tag", "."])],
    [getSegments(["data", "a".repeat(8000)])],
  ])("a path that servers would resolve, collapse or refuse is not sent: %j", (request) => {
    expect(request).toHaveProperty("unsent");
  });
});
