import { describe, expect, test } from "vitest";
import { fieldReports, observeFields, type SeenFields } from "../../../src/tools/compare/fields.ts";
import { dropped, list, nullable, object, renamed, unwrapped } from "../../../src/rules/compose.ts";
import type { JsonObject } from "../../../src/rules/rule.ts";
import { integer, text } from "../../../src/rules/values.ts";

const tree = unwrapped(
  "thing",
  object({
    id: integer,
    name: nullable(text),
    kind: renamed("type", text),
    tag: list(text),
    rows: list(object({ value: integer })),
    gone: dropped,
  }),
);

const seenIn = (...documents: JsonObject[]) => {
  const fields: SeenFields = new Map();
  for (const document of documents) observeFields(tree, document, fields);
  const { coverage, schemaDrift } = fieldReports("getThing", tree, fields);
  const at = (path: string) => coverage.find((one) => one.path === path);
  return {
    at,
    coverage,
    drift: schemaDrift.map(({ path, legacyPath, seen, rules }) => [path, legacyPath, seen, rules.length]),
  };
};

describe("coverage", () => {
  test("which variants were shown, and which never", () => {
    const { at, drift } = seenIn(
      { thing: { id: "1", name: "a", type: "x", tag: "one", rows: { value: "1" } } },
      { thing: { id: "2", name: "", type: "x", tag: ["a", "b"] } },
      { thing: { id: "3", type: "x", rows: [{ value: "1" }, { value: "2" }] } },
    );
    expect(at("/name")).toMatchObject({
      seen: { text: 1, empty: 1, none: 1 },
      never: [],
      documents: 3,
      declared: ["text", "null"],
    });
    expect(at("/kind")).toMatchObject({
      legacyPath: "thing.type",
      seen: { text: 3 },
      rules: ["renamed", "text"],
      never: [],
    });
    expect(at("/tag")).toMatchObject({ seen: { text: 1, many: 1, none: 1 }, never: [] });
    expect(at("/tag/*")).toMatchObject({ documents: 3, seen: { text: 3 } });
    expect(at("/rows/*/value")).toMatchObject({ legacyPath: "thing.rows.*.value", documents: 3 });
    expect(at("/rows")).toMatchObject({ seen: { object: 1, none: 1, many: 1 }, never: [] });
    expect(drift).toEqual([]);
  });

  test("a field that no document had a place for is there all the same", () => {
    const { at } = seenIn();
    expect(at("/rows/*/value")).toMatchObject({ documents: 0, seen: {}, never: ["a value"], examples: [] });
  });
});

describe("schema drift", () => {
  test("fields that no rule reads, beside the wrapper too; types that no rule counts on", () => {
    const { drift } = seenIn({
      more: 1,
      thing: { id: { a: 1 }, name: ["x"], type: "x", new_field: ["a"], rows: [{ value: "1", odd: null }] },
    });
    expect(drift).toEqual([
      ["/id", "thing.id", { object: 1 }, 1],
      ["/name", "thing.name", { one: 1 }, 2],
      ["/more", "more", { number: 1 }, 0],
      ["/rows/*/odd", "thing.rows.*.odd", { null: 1 }, 0],
      ["/new_field", "thing.new_field", { one: 1 }, 0],
    ]);
  });

  test("legacy may invent any number of fields, of any name", () => {
    const invented = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`f${i}`, "x"]));
    const fields: SeenFields = new Map();
    for (let i = 0; i < 3; i++)
      observeFields(tree, JSON.parse(`{"thing":{"__proto__":1,"constructor":2,"a/b":3}}`) as JsonObject, fields);
    observeFields(tree, { thing: { id: "1", ...invented } }, fields);
    expect(fields.size).toBeLessThan(250);
    expect(fields.get("/__proto__")?.documents).toBe(3);
    expect(fields.get("/a~1b")?.documents).toBe(3);
  });
});
