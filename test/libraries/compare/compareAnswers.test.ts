import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { causeOf, type Difference, resultOf } from "../../../libraries/compare/difference.ts";
import type { GivenAnswer } from "../../../libraries/compare/answers.ts";
import { compareAnswers } from "../../../libraries/compare/compareAnswers.ts";
import { type LedgerEntry, ledgerSchema, openLedger } from "../../../libraries/compare/ledger.ts";
import { anyOrder, list, nullable, object } from "../../../src/catalogue/rules/compose.ts";
import type { Json, Rule } from "../../../src/catalogue/rules/rule.ts";
import { integer, text } from "../../../src/catalogue/rules/values.ts";
import { changedAt, endpoints, leavesOf, pathOf, shown, valueAt } from "./documents.ts";

const rows = list(object({ id: integer, name: nullable(text) }));
const tree = object({ id: integer, name: nullable(text), tag: anyOrder(list(text)), creator: list(text), rows });
const document = {
  id: 1,
  name: null,
  tag: ["a", "b"],
  creator: ["c", "d"],
  rows: [
    { id: 1, name: "x" },
    { id: 2, name: "y" },
    { id: 3, name: "z" },
  ],
};

const today = "2026-11-21";
const entry: LedgerEntry = {
  id: "one",
  endpoint: "getThing",
  path: "/rows/*/name",
  kind: "value",
  reason: "known",
  owner: "us",
  until: "2026-12-31",
};

const compare = (expected: GivenAnswer, candidate: GivenAnswer, output: Rule = tree, entries: LedgerEntry[] = []) =>
  compareAnswers({ endpoint: "getThing", output, ledger: openLedger(entries, today) }, expected, candidate);
const answer = (body: Json, status = 200): GivenAnswer => ({ status, body, contentType: "application/json" });
const describeAll = (differences: ReturnType<typeof compare>) =>
  differences.map(({ path, form, kind, count }) => [path, form, kind, count].join(" "));

describe("every kind of difference, with its path", () => {
  test.each<[string, Json, string[]]>([
    ["an order that means nothing", { ...document, tag: ["b", "a"] }, ["/tag order explained 1"]],
    ["an order that matters", { ...document, creator: ["d", "c"] }, ["/creator order unexplained 1"]],
    ["an entry too many", { ...document, tag: ["a", "x", "b"] }, ["/tag/* extra unexplained 1"]],
    ["another entry", { ...document, tag: ["a", "x"] }, ["/tag/* value unexplained 1"]],
    ["a row less in the middle", changedAt(document, "/rows/1", undefined), ["/rows/* missing unexplained 1"]],
    [
      "ids as text in the same rows",
      changedAt(changedAt(document, "/rows/0/id", "1"), "/rows/2/id", "3"),
      ["/rows/*/id type unexplained 2"],
    ],
    ["a list for an object", [], [" type unexplained 1"]],
  ])("a candidate's document differs by %s", (_, candidate, expected) => {
    expect(describeAll(compare(answer(document), answer(candidate)))).toEqual(expected);
  });

  const sound = answer(document);
  test.each<[string, GivenAnswer, GivenAnswer, string[]]>([
    ["a field of an error", answer({ code: "1" }, 404), answer({ code: 1 }, 404), ["/code type unexplained 1"]],
    ["a charset, which is no difference", sound, { ...sound, contentType: "Application/JSON; charset=utf-8" }, []],
    ["a body that is no JSON", sound, { ...sound, body: undefined, text: "<html>" }, [" type unexplained 1"]],
  ])("a candidate's answer differs by %s", (_, expected, candidate, differences) => {
    expect(describeAll(compare(expected, candidate))).toEqual(differences);
  });
});

test.each<[cause: string, form: Difference["form"], rule?: string]>([
  ["left out; a text was expected", "missing", "nullable + text"],
  ["left out; the result of the rule lowercase was expected", "missing", "lowercase"],
  ["left out; null was expected", "missing", "nullable"],
  ["another type; an integer was expected", "type", "integer"],
  ["another text than expected", "value", "text"],
  ["another value than expected by the rule lowercase", "value", "lowercase"],
  ["added; nothing was expected", "extra", "optional + text"],
  ["another order than expected", "order", "unwrapped + list"],
  ["missing at /a", "missing"],
])('the cause "%s" is named for the form %s and the rule %s', (cause, form, rule) => {
  expect(causeOf({ path: "/a", form, kind: "unexplained", ...(rule && { rule }) })).toBe(cause);
});

describe("the ledger", () => {
  test.each<[string, Partial<LedgerEntry>, Json, string]>([
    ["for this difference", {}, "q", "expected"],
    ["for any endpoint", { endpoint: "*" }, "q", "expected"],
    ["for any kind", { kind: "*" }, "q", "expected"],
    ["for another endpoint", { endpoint: "getOther" }, "q", "unexplained"],
    ["for another path", { path: "/rows/*/names" }, "q", "unexplained"],
    ["for an entry that is named x", { path: "/rows/x/name" }, "q", "unexplained"],
    ["with * within a name", { path: "/r*s/x/name" }, "q", "unexplained"],
    ["for another kind", { kind: "type" }, "q", "unexplained"],
    ["that ends today", { until: today }, "q", "expected"],
    ["that ended yesterday", { until: "2026-11-20" }, "q", "unexplained"],
    ["for all that is below a path", { path: "/rows/**" }, "q", "expected"],
    ["for all that is below the document", { path: "/**" }, "q", "expected"],
    ["for this value", { candidate: "" }, "", "expected"],
    ["for another value", { candidate: "" }, "q", "unexplained"],
    ["for null", { candidate: null, kind: "type" }, null, "expected"],
    ["for another value than null", { candidate: null }, "", "unexplained"],
    ["for false", { candidate: false, kind: "type" }, 0, "unexplained"],
  ])("a difference is classified by a ledger's entry %s", (_, change, name, kind) => {
    const changed = changedAt(document, "/rows/1/name", name);
    const differences = compare(answer(document), answer(changed), tree, [{ ...entry, ...change }]);
    expect(differences.map((it) => [it.kind, it.entry])).toEqual([[kind, kind === "expected" ? "one" : undefined]]);
  });

  test("the reference's ledger allows its problem+json, but no plain text", () => {
    const file = new URL("../../../transforms/expectedDifferences.json", import.meta.url);
    const ledger = ledgerSchema.parse(JSON.parse(readFileSync(file, "utf8")));
    const no = answer({ detail: "no" }, 404);
    const classifiedFor = (contentType: string, status: number) =>
      compare(no, { ...no, status, contentType }, tree, ledger).find(({ path }) => path === "content-type")?.kind;
    expect(classifiedFor("application/problem+json", 404)).toBe("expected");
    for (const type of ["text/plain", "text/html", "application/xml"])
      for (const status of [404, 500]) expect(classifiedFor(type, status)).toBe("unexplained");
    for (const { link } of ledger) expect(link).toMatch(/^https:/);
  });

  test("a ledger lists its expired entries, and has each id once", () => {
    expect(
      openLedger([entry, { ...entry, id: "two", until: "2026-01-01" }], today).expired.map(({ id }) => id),
    ).toEqual(["two"]);
    expect(ledgerSchema.safeParse([entry, entry]).success).toBe(false);
    expect(ledgerSchema.safeParse({}).success).toBe(false);
  });

  test.each<[string, unknown, boolean]>([
    ["until", "soon", false],
    ["kind", "odd", false],
    ["reason", "", false],
    ["more", 1, false],
    ["candidate", [[]], false],
    ["candidate", {}, false],
    ["candidate", "", true],
    ["candidate", null, true],
    ["path", "served", false],
    ...["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "//evil.example", "ftp://x.example", ""].map(
      (link): [string, string, boolean] => ["link", link, false],
    ),
    ["link", "https://issues.example/12", true],
    ["link", "http://issues.example/12", true],
  ])("a ledger's entry with the %s %j is valid: %s", (name, value, isAllowed) => {
    expect(ledgerSchema.safeParse([{ ...entry, [name]: value }]).success).toBe(isAllowed);
  });
});

const evaluations = list(object({ run: integer, function: text, value: integer }));
const evaluated = [
  { run: 1, function: "auc", value: 10 },
  { run: 1, function: "kappa", value: 20 },
  { run: 2, function: "auc", value: 30 },
];

test.each<[string, Json, string[]]>([
  ["one row less", changedAt(evaluated, "/0", undefined), ["/* missing unexplained 1"]],
  ["the field that they share", changedAt(evaluated, "/0/run", undefined), ["/*/run missing unexplained 1"]],
  ["the field that distinguishes them", changedAt(evaluated, "/0/function", "f1"), ["/*/function value unexplained 1"]],
  ["another field", changedAt(evaluated, "/1/value", 21), ["/*/value value unexplained 1"]],
  ["two rows in another order", [evaluated[1], evaluated[0], evaluated[2]] as Json, [" order unexplained 1"]],
])("rows that share their first field are not mixed up: %s", (_, candidate, expected) => {
  expect(describeAll(compare(answer(evaluated), answer(candidate), evaluations))).toEqual(expected);
});

const everything = Object.keys(endpoints).flatMap(shown);

test("a fault at any place of any fixture is found there, and nowhere else", () => {
  const wrong: string[] = [];
  for (const { name, example, endpoint, ours } of everything)
    for (const at of leavesOf(ours))
      for (const fault of ["missing", "type"]) {
        const value = valueAt(ours, at);
        // An entry of a list that goes is a difference of the list, and one that is the identity
        // of its row is another row.
        const other = typeof value === "string" ? 4711 : typeof value === "number" ? String(value) : "text";
        const faulty = changedAt(ours, at, fault === "missing" ? undefined : other);
        const found = compare(answer(ours), answer(faulty), endpoint.output).filter(({ form }) => form !== "order");
        const paths = new Set(found.map(({ path }) => path));
        if (paths.size !== 1 || !paths.has(pathOf(at))) wrong.push(`${name}, ${example}, ${at}: ${fault}`);
      }
  expect(wrong).toEqual([]);
});

test("an answer with invented members has a bounded number of differences", () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`m${i}`, i]));
  const found = compare(answer(document), answer({ ...document, ...many, id: "1" }));
  expect(found.length).toBeLessThan(Object.keys(many).length);
  expect(describeAll(found)).toContain("/id type unexplained 1");
  expect(describeAll(found).at(-1)).toBe("(other paths) extra unexplained 1");
});

test("a difference beyond the bound still decides the result", () => {
  const names = Array.from({ length: 2000 }, (_, i) => `l${i}`);
  const lists = (entries: string[]) => Object.fromEntries(names.map((name) => [name, entries]));
  const rule = object({ ...Object.fromEntries(names.map((name) => [name, anyOrder(list(text))])), last: text });
  const found = compare(answer({ ...lists(["a", "b"]), last: "x" }), answer({ ...lists(["b", "a"]), last: "y" }), rule);
  expect(resultOf(found)).toBe("unexplained");
});
