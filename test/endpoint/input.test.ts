import { describe, expect, test } from "vitest";
import { identifierOr, identifiers, range } from "../../src/endpoint/field.ts";
import { listDatasets } from "../../transforms/listDatasets.ts";
import { get, getSegments } from "../../src/endpoint/legacyRequest.ts";

describe("a range", () => {
  test.each([
    ["5", true],
    ["0..0", true],
    ["007..7", true],
    ["9..10", true],
    [`9..${"9".repeat(37)}`, true],
    [`${"0".repeat(100_000)}9..10`, true],
    [`9..${"9".repeat(38)}`, false],
    [`9..${"9".repeat(100_000)}`, false],
    ["10..9", false],
    [`1${"0".repeat(100_000)}..9`, false],
    ["5..", false],
    ["..5", false],
    ["-5", false],
    ["1.5", false],
    ["", false],
  ])("%.20s", (text, good) => {
    expect(range.fromText(text).ok).toBe(good);
  });

  test.each([
    ["0100..0200", "100..200"],
    ["000", "0"],
    ["0..00", "0..0"],
    ["10", "10"],
  ])("%s is %s, however it is written", (text, value) => expect(range.fromText(text)).toEqual({ ok: true, value }));

  test("of a number with more digits than legacy's path has room for is too long", () => {
    for (const reading of [range.fromText("9".repeat(8000)), range.fromJson(1e300)])
      expect(reading).toMatchObject({ problems: [{ type: "value_error.any_str.max_length" }] });
  });
});

test("ids that cannot exist are left out of a list, and it may then be empty", () => {
  expect(identifiers(3, 10).fromText("5,0,5")).toEqual({ ok: true, value: [5] });
  expect(identifiers(3, 10).fromJson([0, -1])).toEqual({ ok: true, value: [] });
  expect(identifiers(3, 10).possible?.([])).toBe(false);
  expect(identifiers(3, 10).fromJson([1, 2, 3, 4])).toHaveProperty("problems");
});

test("too many ids for legacy's path are refused; all others fit into it", () => {
  const id = 2 ** 31 - 1;
  const ids = (many: number) => Array.from({ length: many }, (_, i) => id - i);
  const field = listDatasets.input["data_id"];
  for (const reading of [field?.fromJson(ids(637)), field?.fromText(ids(1000).join(","))])
    expect(reading).toMatchObject({ problems: [{ type: "value_error.any_str.max_length" }] });
  const widest = `${"1".repeat(19)}..${"2".repeat(19)}`;
  const most = {
    status: "in_preparation",
    tag: "t".repeat(64),
    data_name: " ".repeat(128),
    data_version: id,
    uploader: id,
    data_id: ids(636),
    number_instances: widest,
    number_features: widest,
    number_classes: widest,
    number_missing_values: widest,
    limit: 10_000,
    offset: Number.MAX_SAFE_INTEGER,
  };
  for (const [name, value] of Object.entries(most))
    expect([name, listDatasets.input[name]?.fromJson(value)]).toEqual([name, { ok: true, value }]);
  expect(listDatasets.legacy(most)).toHaveProperty("path");
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
