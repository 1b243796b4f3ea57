import { describe, expect, expectTypeOf, test } from "vitest";
import { commaSeparated, urlList } from "../../../src/catalogue/rules/commaSeparated.ts";
import {
  dropped,
  list,
  nullable,
  object,
  onlyWhen,
  optional,
  renamed,
  sortedBy,
  unwrapped,
} from "../../../src/catalogue/rules/compose.ts";
import { collectChanges, servingNote } from "../../../src/catalogue/rules/notes.ts";
import type { Json, OursOf, Rule } from "../../../src/catalogue/rules/rule.ts";
import { boolean, integer, lowercase, markup, number, text, timestamp } from "../../../src/catalogue/rules/values.ts";

type Row = [rule: Rule, before: Json | undefined, after: Json | undefined, claimed: string[]];

const record = object({ id: integer, tag: list(text), name: renamed("title", nullable(text)) });
const arff = object({ format: text, url: onlyWhen("With ARFF.", ({ format }) => format === "arff", optional(text)) });

const sorted = sortedBy(["a", "b"], list(object({ a: integer, b: optional(integer) })));

const rows: Row[] = [
  [integer, "61", 61, ["integer"]],
  [integer, "-007", -7, ["integer"]],
  [integer, "6.1", "6.1", []],
  [integer, "9007199254740993", "9007199254740993", []],
  [number, "1.0E-4", 0.0001, ["number"]],
  [number, "-.5", -0.5, ["number"]],
  [number, "NaN", null, ["number"]],
  [number, "1e999", null, ["number"]],
  [number, "0x10", null, ["number"]],
  [number, "", null, ["number"]],
  [number, [], null, ["number"]],
  [number, undefined, null, ["number"]],
  [number, { a: "b" }, { a: "b" }, []],
  [boolean, "false", false, ["boolean"]],
  [boolean, "yes", "yes", []],
  [sorted, [{ a: "9" }, { a: "10" }], [{ a: 9 }, { a: 10 }], ["integer", "integer"]],
  [sorted, [{ a: "10" }, { a: "9" }], [{ a: 9 }, { a: 10 }], ["sortedBy", "integer", "integer"]],
  [
    sorted,
    [
      { a: 1, b: 2 },
      { a: 1, b: -2 },
      { a: 0, b: 3 },
    ],
    [
      { a: 0, b: 3 },
      { a: 1, b: -2 },
      { a: 1, b: 2 },
    ],
    ["sortedBy"],
  ],
  [sorted, { a: 1 }, [{ a: 1 }], ["list"]],
  [sorted, ["x", { a: 1 }], ["x", { a: 1 }], []],
  [timestamp, "2021-04-04 04:04:04", "2021-04-04T04:04:04", ["timestamp"]],
  [timestamp, "0000-00-00T00:00:00", "0000-00-00T00:00:00", []],
  [timestamp, "Spring 1999", "Spring 1999", []],
  [lowercase, "Sparse_ARFF", "sparse_arff", ["lowercase"]],
  [markup, { b: "html" }, { b: "html" }, []],
  [nullable(text), undefined, null, ["nullable"]],
  [nullable(text), [], null, ["nullable"]],
  [nullable(text), "", null, ["nullable"]],
  [optional(integer), [], undefined, ["optional"]],
  [list(integer), undefined, [], ["list"]],
  [list(integer), ["1", "2"], [1, 2], ["integer", "integer"]],
  [list(text), ["a", [], "b", ""], ["a", "b"], ["list"]],
  [commaSeparated, undefined, [], ["commaSeparated"]],
  [commaSeparated, "Alice, Bob", ["Alice", "Bob"], ["commaSeparated"]],
  [commaSeparated, `"Jason", "G. Davies, A. Horne"`, ["Jason", "G. Davies", "A. Horne"], ["commaSeparated"]],
  [commaSeparated, ["Jason", "G. Davies, A. Horne"], ["Jason", "G. Davies", "A. Horne"], ["commaSeparated"]],
  [commaSeparated, `'a', "b' , ,`, ["a", "b"], ["commaSeparated"]],
  [commaSeparated, "\u00a0A\u00a0, \u000bB\t", ["\u00a0A\u00a0", "B"], ["commaSeparated"]],
  [commaSeparated, ["A", [], "B"], ["A", "B"], ["commaSeparated"]],
  [urlList, "http://a/?x=1,2", ["http://a/?x=1,2"], ["urlList"]],
  [urlList, "http://a/1,2, https://b", ["http://a/1,2", "https://b"], ["urlList"]],
  [urlList, "http://a,\u00a0http://b", ["http://a,\u00a0http://b"], ["urlList"]],
  [unwrapped("data", integer), { data: "1" }, 1, ["unwrapped", "integer"]],
  [unwrapped("data", integer), { data: "1", more: "2" }, 1, ["unwrapped", "unknown", "integer"]],
  [unwrapped("data", list(integer)), [], [], ["unwrapped", "list"]],
  [unwrapped("data", list(integer)), { status: "ok" }, { status: "ok" }, []],
  [unwrapped("data", list(integer)), "text", "text", []],
  [record, { id: "1", tag: "a", title: "x" }, { id: 1, tag: ["a"], name: "x" }, ["integer", "list", "renamed"]],
  [record, { id: "1", tag: [] }, { id: 1, tag: [], name: null }, ["integer", "nullable"]],
  [
    record,
    { id: 1, tag: [], title: "x", neu: { a: "1" } },
    { id: 1, tag: [], name: "x", neu: { a: "1" } },
    ["renamed", "unknown"],
  ],
  [record, [], [], []],
  [arff, { format: "arff", url: "u" }, { format: "arff", url: "u" }, []],
  [arff, { format: "csv", url: "u" }, { format: "csv" }, ["onlyWhen"]],
  [object({ a: dropped }), { a: "x" }, {}, ["dropped"]],
];

test.each(rows.map((row) => [`${row[0].name} ${JSON.stringify(row[1])} -> ${JSON.stringify(row[2])}`, row] as const))(
  "the rule %s",
  (_, [rule, before, after, claimed]) => {
    const { note, changes } = collectChanges();
    expect(rule.read(before, note, {})).toEqual(after);
    expect(changes.map((change) => change.rule)).toEqual(claimed);
  },
);

test("a rule notes the place of a change as a JSON pointer into our document", () => {
  const { note, changes } = collectChanges();
  unwrapped("a/b", list(record)).read({ "a/b": { id: "1", tag: ["x"], title: "t", "new/field": "1" } }, note, {});
  expect(changes.map(({ at, rule }) => `${at} ${rule}`)).toEqual([
    " unwrapped",
    " list",
    "/0/id integer",
    "/0/name renamed",
    "/0/new~1field unknown",
  ]);
});

describe("an unknown field", () => {
  test("an unknown field named __proto__ stays a field and changes no prototype", () => {
    const ours = record.read(
      JSON.parse('{"id":"1","__proto__":{"polluted":"yes"},"constructor":"c"}') as Json,
      collectChanges().note,
      {},
    );
    expect(JSON.stringify(ours)).toBe('{"id":1,"tag":[],"name":null,"__proto__":{"polluted":"yes"},"constructor":"c"}');
    expect(Object.getPrototypeOf(ours)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("an unknown field nested deeper than any document fails the schema", () => {
    const deep = JSON.parse(`{"id":"1","new":${"[".repeat(100)}${"]".repeat(100)}}`) as Json;
    expect(record.schema.safeParse(record.read(deep, collectChanges().note, {})).success).toBe(false);
  });
});

test("a tree of rules has the type of its documents", () => {
  const tree = list(object({ id: integer, name: nullable(text), tag: optional(list(text)), old: dropped }));
  expectTypeOf<OursOf<typeof tree>>().branded.toEqualTypeOf<
    { id: number; name: string | null; tag?: string[] | undefined; old?: undefined }[]
  >();
  expect(
    tree.read(
      [{ id: "1" }],
      servingNote(() => undefined),
      {},
    ),
  ).toEqual([{ id: 1, name: null }]);
});
