import fc from "fast-check";
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
  path: "/name",
  kind: "type",
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
    ["nothing", document, []],
    ["a text for a number", { ...document, id: "1" }, ["/id type unexplained 1"]],
    ["another number", { ...document, id: 2 }, ["/id value unexplained 1"]],
    ["an empty text for null", { ...document, name: "" }, ["/name type unexplained 1"]],
    ["a missing field", changedAt(document, "/name", undefined), ["/name missing unexplained 1"]],
    ["a new field", { ...document, more: 1 }, ["/more extra unexplained 1"]],
    ["an order that means nothing", { ...document, tag: ["b", "a"] }, ["/tag order explained 1"]],
    ["an order that matters", { ...document, creator: ["d", "c"] }, ["/creator order unexplained 1"]],
    ["an entry too few", { ...document, tag: ["b"] }, ["/tag/* missing unexplained 1"]],
    ["an entry too many", { ...document, tag: ["a", "x", "b"] }, ["/tag/* extra unexplained 1"]],
    ["another entry", { ...document, tag: ["a", "x"] }, ["/tag/* value unexplained 1"]],
    ["a row less in the middle", changedAt(document, "/rows/1", undefined), ["/rows/* missing unexplained 1"]],
    [
      "ids as text in the same rows",
      changedAt(changedAt(document, "/rows/0/id", "1"), "/rows/2/id", "3"),
      ["/rows/*/id type unexplained 2"],
    ],
    ["a field of one row", changedAt(document, "/rows/1/name", "q"), ["/rows/*/name value unexplained 1"]],
    ["a list for an object", [], [" type unexplained 1"]],
  ])("a candidate's document differs by %s", (_, candidate, expected) => {
    expect(describeAll(compare(answer(document), answer(candidate)))).toEqual(expected);
  });

  const sound = answer(document);
  const error = (status: number, detail: Json = "x") => answer({ detail }, status);
  test.each<[string, GivenAnswer, GivenAnswer, string[]]>([
    ["another status of an error", error(404), error(410), ["status status unexplained 1"]],
    ["an error for a document", sound, error(500), ["status status unexplained 1"]],
    ["a document for an error", error(404), sound, ["status status unexplained 1"]],
    ["a field of an error", error(404, { code: "1" }), error(404, { code: 1 }), ["/detail/code type unexplained 1"]],
    ["another content type", sound, { ...sound, contentType: "text/html" }, ["content-type value unexplained 1"]],
    ["a charset, which is no difference", sound, { ...sound, contentType: "Application/JSON; charset=utf-8" }, []],
    ["a body that is no JSON", sound, { ...sound, body: undefined, text: "<html>" }, [" type unexplained 1"]],
  ])("a candidate's answer differs by %s", (_, expected, candidate, differences) => {
    expect(describeAll(compare(expected, candidate))).toEqual(differences);
  });
});

test("a list in another order has its own rule as the cause, not the rule around it", () => {
  const [difference] = compare(answer(["a", "b"]), answer(["b", "a"]), list(text));
  const cause = difference && causeOf({ ...difference, rule: "unwrapped + list" });
  expect(cause).toBe("another order than expected");
});

test.each<[cause: string, form: Difference["form"], rule?: string]>([
  ["left out; a text was expected", "missing", "nullable + text"],
  ["left out; the result of the rule lowercase was expected", "missing", "lowercase"],
  ["left out; null was expected", "missing", "nullable"],
  ["another type; an integer was expected", "type", "integer"],
  ["another text than expected", "value", "text"],
  ["another value than expected by the rule lowercase", "value", "lowercase"],
  ["added; nothing was expected", "extra", "optional + text"],
  ["missing at /a", "missing"],
])('the cause "%s" is named for the form %s and the rule %s', (cause, form, rule) => {
  expect(causeOf({ path: "/a", form, kind: "unexplained", ...(rule && { rule }) })).toBe(cause);
});

describe("the ledger", () => {
  const empty = { ...document, name: "" };
  test.each<[string, Partial<LedgerEntry>, string]>([
    ["for this difference", {}, "expected"],
    ["for any endpoint", { endpoint: "*" }, "expected"],
    ["for any kind", { kind: "*" }, "expected"],
    ["for another endpoint", { endpoint: "getOther" }, "unexplained"],
    ["for another path", { path: "/names" }, "unexplained"],
    ["for another kind", { kind: "value" }, "unexplained"],
    ["that ends today", { until: today }, "expected"],
    ["that ended yesterday", { until: "2026-11-20" }, "unexplained"],
    ["for all that is below a path", { path: "/**" }, "expected"],
  ])("a difference is classified by a ledger's entry %s", (_, change, kind) => {
    const differences = compare(answer(document), answer(empty), tree, [{ ...entry, ...change }]);
    expect(differences.map((it) => [it.kind, it.entry])).toEqual([[kind, kind === "expected" ? "one" : undefined]]);
  });

  test("a ledger's entry about a list allows differences of the list's entries alone", () => {
    const changed = changedAt(document, "/rows/1/name", "q");
    const about = (path: string) =>
      compare(answer(document), answer(changed), tree, [{ ...entry, kind: "value", path }])[0]?.kind;
    expect([about("/rows/*/name"), about("/rows/**"), about("/rows/x/name"), about("/r*s/x/name")]).toEqual([
      "expected",
      "expected",
      "unexplained",
      "unexplained",
    ]);
  });

  test("a ledger's entry with a value allows exactly this value of the candidate", () => {
    const about = (name: Json, candidate: string | number | boolean | null) =>
      compare(answer(document), answer(changedAt(document, "/rows/1/name", name)), tree, [
        { ...entry, kind: "*", path: "/rows/*/name", candidate },
      ])[0]?.kind;
    expect([about("", ""), about("q", ""), about(null, null), about("", null), about(0, false)]).toEqual([
      "expected",
      "unexplained",
      "expected",
      "unexplained",
      "unexplained",
    ]);
  });

  test("the reference's ledger allows its problem+json, but no plain text", () => {
    const file = new URL("../../../transforms/expectedDifferences.json", import.meta.url);
    const ledger = ledgerSchema.parse(JSON.parse(readFileSync(file, "utf8")));
    const classifiedFor = (contentType: string, status: number) =>
      compare(
        { status: 404, body: { detail: "no" }, contentType: "application/json" },
        { status, body: { detail: "no" }, contentType },
        tree,
        ledger,
      )
        .filter(({ path }) => path === "content-type")
        .map(({ kind }) => kind);
    expect(classifiedFor("application/problem+json", 404)).toEqual(["expected"]);
    for (const type of ["text/plain", "text/html", "application/xml"])
      for (const status of [404, 500]) expect(classifiedFor(type, status)).toEqual(["unexplained"]);
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

test("every document is equal to itself", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(compare(answer(value as Json), answer(structuredClone(value) as Json))).toEqual([]);
    }),
  );
});

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
