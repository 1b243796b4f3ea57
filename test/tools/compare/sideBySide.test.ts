import { expect, test } from "vitest";
import { explainedRows, comparedRows } from "../../../tools/compare/sideBySide.ts";
import { list, object } from "../../../src/catalogue/rules/compose.ts";
import { commaSeparated } from "../../../src/catalogue/rules/commaSeparated.ts";
import { integer, text } from "../../../src/catalogue/rules/values.ts";

const rows = list(object({ id: integer, name: text }));
const documents = (count: number) => Array.from({ length: count }, (_, id) => ({ id, name: `n${id}` }));

test("side by side, far equal entries are counted, and different ones are shown", () => {
  const expected = documents(100);
  const shown = comparedRows(rows, expected, expected.with(60, { id: 60, name: "other" }), []);
  expect(shown.flatMap(({ omitted }) => omitted ?? [])).toEqual([57, 39]);
  expect(shown.filter(({ kind }) => kind === "unexplained")).toEqual([
    { depth: 2, name: "name", left: '"n60"', right: '"other"', form: "value", kind: "unexplained" },
  ]);
  expect(shown.length).toBe(1 + 3 * 3 + 1 + 3 + 1);
});

test("side by side, a thousand entries that all differ are shown in part", () => {
  const shown = comparedRows(
    rows,
    documents(1000),
    documents(1000).map(({ id }) => ({ id: `${id}`, name: "o" })),
    [],
  );
  expect(shown.length).toBe(401);
  expect(shown.at(-1)?.omitted).toBe(3001 - 400);
});

test("side by side, legacy's values and ours have the rules between them", () => {
  const output = object({ id: integer, name: text, tag: commaSeparated });
  expect(explainedRows(output, { id: "1", name: "a", tag: "" }, { id: 1, name: "a", tag: [] })).toEqual([
    { depth: 0, name: "" },
    { depth: 1, name: "id", left: '"1"', right: "1", form: "type", kind: "explained", rules: ["integer"] },
    { depth: 1, name: "name", left: '"a"', right: '"a"' },
    expect.objectContaining({ name: "tag", left: '""', right: "[]" }),
  ]);
});
