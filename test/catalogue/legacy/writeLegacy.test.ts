import { expect, test } from "vitest";
import type { LegacyForm } from "../../../src/catalogue/endpoint/legacyForm.ts";
import { legacyWriter } from "../../../src/catalogue/legacy/writeLegacy.ts";
import { lossesOf } from "../../../src/catalogue/reading/losses.ts";
import { dropped, list, nullable, object, renamed, unwrapped } from "../../../src/catalogue/rules/compose.ts";
import type { Json, JsonObject } from "../../../src/catalogue/rules/rule.ts";
import { integer, javaNumber, numberList, text, timestamp, verbatim } from "../../../src/catalogue/rules/values.ts";

const output = unwrapped(
  "task",
  object({
    id: renamed("task_id", integer),
    name: nullable(verbatim(text)),
    date: nullable(timestamp),
    input: list(object({ name: text, value: nullable(javaNumber) })),
    matrix: nullable(numberList(2)),
    secret: dropped,
  }),
);
const elements = `task{#task_id name version="1" date? #matrix? checksum/json="" input*{@name =value} secret? ofModern?}`;
const written = (ours: Json, options?: Omit<LegacyForm, "elements">) => {
  const { documentOf, write } = legacyWriter(output, { elements, ...options });
  return (["json", "xml"] as const).map((format) => write(documentOf(ours, format), format));
};
const id = { id: 7, ofModern: true, secret: "s" };
const matrix = [[1, null], [3]];
const input = [
  { name: "a\n", value: 12 },
  { name: "b", value: 1e-4 },
];
const document = { ...id, name: "R&amp;D/é", date: "2021-02-03T04:05:06", matrix, input };

test("a document has legacy's names, values and order, and no member without a rule", () => {
  const [json, xml] = written(document);
  expect(json).toBe(
    String.raw`{"task":{"task_id":"7","name":"R&amp;D\/\u00e9","version":"1","date":"2021-02-03 04:05:06","matrix":"[[1,?],[3]]","checksum":[],"input":[{"name":"a","value":"12.0"},{"name":"b","value":"1.0E-4"}]}}`,
  );
  expect(xml).toBe(
    `<oml:task xmlns:oml="http://openml.org/openml">\n<oml:task_id>7</oml:task_id>\n<oml:name>R&amp;D/é</oml:name>\n<oml:version>1</oml:version>\n<oml:date>2021-02-03 04:05:06</oml:date>\n<oml:matrix>[[1,?],[3]]</oml:matrix>\n<oml:input name="a&#10;">12.0</oml:input>\n<oml:input name="b">1.0E-4</oml:input>\n</oml:task>\n`,
  );
});

test("a template writes lists and numbers, and escapes no letters", () => {
  expect(written(document, { isTemplate: true })[0]).toBe(
    `{"task":{"task_id":7,"name":"R&amp;D/é","version":"1","date":"2021-02-03 04:05:06","matrix":[1,"?",3],"checksum":"","input":[{"name":"a\\n","value":"12.0"},{"name":"b","value":"1.0E-4"}]}}`,
  );
});

test("a field without a value is left out or empty, and a bare sign is escaped", () => {
  const [json, xml] = written({ id: 1, name: "R&D\r\n<\u0001", date: "", matrix: null, input: [] });
  expect(json).toContain(`"name":"R&D\\n<\\u0001","version":"1","checksum":[]}}`);
  expect(xml).toContain("<oml:name>R&amp;D\r\n&lt;\ufffd</oml:name>\n<oml:version>1</oml:version>\n</oml:task>");
  expect(written({ id: 1, name: null })[0]).toContain(`"name":[],"version"`);
});

test.each(["a]]>b", "a&#0;b", "a&#55296;b", "a&#1114112;b", "a&nbsp;b"])("%s is escaped in XML", (name) => {
  const escaped = name.replace("&", "&amp;").replace(">", "&gt;");
  expect(written({ id: 1, name })[1]).toContain(`<oml:name>${escaped}</oml:name>`);
});

test("a form that departs from the notation is refused", () => {
  for (const wrong of ["task{id}}", "task{id", "task{id,name}", ""])
    expect(() => legacyWriter(output, { elements: wrong })).toThrow("a form cannot be read");
});

test("losses are places, without the entries of lists and the spelling of numbers", () => {
  const legacy: JsonObject = {
    a: "1.0",
    list: [{ b: "x" }, { b: "y", c: "1" }],
    matrix: "[1.0, ?]",
    one: "1",
    two: "2",
  };
  expect(lossesOf(legacy, { ...legacy, a: "1", matrix: "[1,?]" })).toEqual([]);
  const { one = null, two = null, ...others } = legacy;
  const changed = { ...others, list: [{ b: "x" }, { b: "z" }], two, one, more: "" };
  expect(lossesOf(legacy, changed)).toEqual(["", "/list/b", "/list/c", "/more"].toSorted());
  expect(lossesOf({ a: "1", b: "[x]", c: "" }, { a: 1, b: "[y]", c: "0" })).toEqual(["/a", "/b", "/c"]);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`m${i}`, "x"]));
  expect(lossesOf(many, {})).toHaveLength(20);
  const nested = (depth: number): JsonObject => ({ flow: depth === 0 ? "x" : { component: nested(depth - 1) } });
  expect(lossesOf(nested(300), nested(299))).toEqual(["/flow/component/flow"]);
});
