import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changesByPlace, explain, lookUp } from "../../../libraries/compare/explain.ts";
import { list, nullable, object, renamed, unwrapped } from "../../../src/catalogue/rules/compose.ts";
import { collectChanges } from "../../../src/catalogue/rules/notes.ts";
import type { Json, JsonObject, Rule } from "../../../src/catalogue/rules/rule.ts";
import { integer, lowercase, text } from "../../../src/catalogue/rules/values.ts";
import { changedAt, endpoints, leavesOf, type Shown, shown } from "./documents.ts";

const changesOf = (rule: Rule, legacy: JsonObject) => {
  const { note, changes } = collectChanges();
  const ours = rule.read(legacy, note, legacy);
  return { ours, changes: changesByPlace(changes) };
};

/** The steps as `path form rule`, in their order. */
const stepsIn = (rule: Rule, legacy: JsonObject, served?: Json): string[] => {
  const { ours, changes } = changesOf(rule, legacy);
  const found: string[] = [];
  explain(rule, legacy, served === undefined ? ours : served, changes, ({ path, steps }) => {
    for (const step of steps) found.push(`${path} ${step.form} ${step.rule ?? "unexplained"}`);
  });
  return found;
};

const everything = Object.keys(endpoints).flatMap(shown);

test.each(everything.map((fixture) => [`${fixture.name} ${fixture.example}`, fixture] as const))(
  "%s: every difference has a rule",
  (_, { endpoint, legacy, ours }) => {
    expect(stepsIn(endpoint.output, legacy, ours).filter((step) => step.endsWith("unexplained"))).toEqual([]);
  },
);

describe("every step is named, with its rule", () => {
  const tree = unwrapped(
    "thing",
    object({ id: integer, kind: renamed("type", nullable(lowercase)), tag: list(text), note: nullable(text) }),
  );
  test.each<[string, JsonObject, string[]]>([
    [
      "a wrapper, a number, a new name and a single entry",
      { thing: { id: "1", type: "ARFF", tag: "a", note: "x" } },
      [" value unwrapped", "/id type integer", "/kind moved renamed", "/kind value lowercase", "/tag type list"],
    ],
    [
      "unset values",
      { thing: { id: "1", type: "", note: [] } },
      [
        " value unwrapped",
        "/id type integer",
        "/kind moved renamed",
        "/kind type nullable",
        "/tag extra list",
        "/note type nullable",
      ],
    ],
    [
      "a document with a field that no rule knows",
      { thing: { id: 1, tag: [], type: "a", note: "b", more: "1" } },
      [" value unwrapped", "/kind moved renamed"],
    ],
  ])("each step from legacy's value is explained by a rule: %s", (_, legacy, steps) => {
    expect(stepsIn(tree, legacy)).toEqual(steps);
  });

  test("a rule that changes a value without a note leaves a step unexplained", () => {
    const silent: Rule = { ...lowercase, read: (legacy) => (legacy as string).toUpperCase() };
    expect(stepsIn(object({ a: silent, b: lowercase }), { a: "x", b: "Y" })).toEqual([
      "/a value unexplained",
      "/b value lowercase",
    ]);
  });
  test("a rule that notes another value than it read leaves a step unexplained", () => {
    const lying: Rule = { ...text, read: (legacy, note) => (note.changed("lying", "other", legacy), legacy) };
    expect(stepsIn(object({ a: lying }), { a: "x" })).toEqual(["/a value unexplained", "/a value lying"]);
  });
});

test("a value changed, lost or added after the rules is never explained", () => {
  fc.assert(
    fc.property(
      fc
        .constantFrom(...everything)
        .chain((fixture: Shown) => fc.tuple(fc.constant(fixture), fc.constantFrom(...leavesOf(fixture.ours)))),
      fc.constantFrom<Json | undefined>(undefined, "other", 4711, { more: true }),
      ([{ endpoint, legacy, ours }, at], value) => {
        const changed = changedAt(ours, at, value);
        const unexplained = stepsIn(endpoint.output, legacy, changed).filter((step) => step.endsWith("unexplained"));
        expect(unexplained.length).toBeGreaterThan(0);
      },
    ),
    { numRuns: 500 },
  );
});

test("the legacy value and the rules of any place can be looked up", () => {
  const tree = unwrapped("thing", object({ kind: renamed("type", lowercase), tag: list(text) }));
  const legacy = { thing: { type: "ARFF", tag: "a" } };
  const { changes } = changesOf(tree, legacy);
  expect(lookUp(tree, legacy, changes, ["kind"])).toEqual({ legacy: "ARFF", rules: ["renamed", "lowercase"] });
  expect(lookUp(tree, legacy, changes, ["tag", "0"])).toEqual({ legacy: "a", rules: ["text"] });
  expect(lookUp(tree, legacy, changes, ["nothing", "there"])).toEqual({ legacy: undefined, rules: [] });
});
