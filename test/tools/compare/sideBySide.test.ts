import { expect, test } from "vitest";
import { compareAnswers } from "../../../libraries/compare/compareAnswers.ts";
import { openLedger } from "../../../libraries/compare/ledger.ts";
import { explainedRows, comparedRows } from "../../../tools/compare/sideBySide.ts";
import { list, object } from "../../../src/catalogue/rules/compose.ts";
import { commaSeparated } from "../../../src/catalogue/rules/commaSeparated.ts";
import { integer, text } from "../../../src/catalogue/rules/values.ts";

const rows = list(object({ id: integer, name: text }));
const documents = (count: number) => Array.from({ length: count }, (_, id) => ({ id, name: `n${id}` }));

test("side by side, far equal entries are counted, and different ones are shown", () => {
  const expected = documents(100);
  const candidate = expected.with(60, { id: 60, name: "other" });
  const about = { endpoint: "getThings", output: rows, ledger: openLedger([], "2000-01-01") };
  const differences = compareAnswers(about, { status: 200, body: expected }, { status: 200, body: candidate });
  const shown = comparedRows(rows, expected, candidate, differences);
  expect(shown.flatMap(({ omitted }) => omitted ?? [])).toEqual([57, 39]);
  expect(shown.filter(({ kind }) => kind === "unexplained")).toEqual([
    { depth: 2, name: "name", left: '"n60"', right: '"other"', form: "value", kind: "unexplained" },
  ]);
  expect(shown.length).toBe(1 + 3 * 3 + 1 + 3 + 1);
});

test("side by side, ten thousand entries that all differ are shown in part", () => {
  const expected = documents(10_000);
  const candidate = expected.map(({ id }) => ({ id: `${id}`, name: "other" }));
  const about = { endpoint: "getThings", output: rows, ledger: openLedger([], "2000-01-01") };
  const differences = compareAnswers(about, { status: 200, body: expected }, { status: 200, body: candidate });
  expect(differences.map(({ path, count }) => [path, count])).toEqual([
    ["/*/id", 10_000],
    ["/*/name", 10_000],
  ]);
  const shown = comparedRows(rows, expected, candidate, differences);
  expect(shown.length).toBe(401);
  expect(shown.at(-1)?.omitted).toBe(30_001 - 400);
});

test("side by side, legacy's values and ours have the rules between them", () => {
  const legacy = [{ id: "1", name: "a" }];
  expect(explainedRows(rows, legacy as never, [{ id: 1, name: "a" }])).toEqual([
    { depth: 0, name: "" },
    { depth: 1, name: "0" },
    { depth: 2, name: "id", left: '"1"', right: "1", form: "type", kind: "explained", rules: ["integer"] },
    { depth: 2, name: "name", left: '"a"', right: '"a"' },
  ]);
});

test("side by side, an empty list that a rule has made is shown as []", () => {
  const output = object({ tag: commaSeparated });
  expect(explainedRows(output, { tag: "" }, { tag: [] })[1]).toMatchObject({ name: "tag", left: '""', right: "[]" });
});
