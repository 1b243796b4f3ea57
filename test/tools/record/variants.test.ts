import { expect, test } from "vitest";
import { variantsOf } from "../../../src/tools/record/coverage.ts";
import { commaSeparated } from "../../../src/rules/commaSeparated.ts";
import { list, nullable, object, renamed, unwrapped } from "../../../src/rules/compose.ts";
import { integer, text } from "../../../src/rules/values.ts";

const rule = unwrapped(
  "study",
  object({
    id: integer,
    tag: list(text),
    creator: commaSeparated,
    citation: nullable(text),
    data_ids: renamed("data", unwrapped("data_id", list(integer))),
    quality: list(object({ name: text, value: nullable(text) })),
  }),
);
const at = (study: object) => [...variantsOf(rule, { study } as never)];

test.each([
  [
    "what is missing",
    {},
    ["/id none", "/tag none", "/creator none", "/citation none", "/data_ids none", "/quality none"],
  ],
  ["types", { id: 1, tag: "a", citation: null }, ["/id number", "/tag text", "/citation null"]],
  ["empty ones", { tag: [], creator: "" }, ["/tag empty", "/creator empty"]],
  ["lists", { tag: ["a"], creator: ["a", "b"] }, ["/tag one", "/tag/* text", "/creator many"]],
  ["inside a wrapper of its own", { data: { data_id: ["1"] } }, ["/data_ids one", "/data_ids/* text"]],
  [
    "entries, each place once",
    { quality: [{ name: "a" }, { name: "b" }] },
    ["/quality many", "/quality/* object", "/quality/*/name text", "/quality/*/value none"],
  ],
  ["fields that no rule knows", { extra: ["1"] }, ["/extra one"]],
])("%s", (_, study, expected) => {
  expect(at(study)).toEqual(expect.arrayContaining(expected));
});

test("documents of one form show the same, whatever their values", () => {
  expect(at({ id: "1", tag: ["a", "b"] })).toEqual(at({ id: "22", tag: ["c", "d", "e"] }));
  expect(variantsOf(rule, { other: "x" })).toEqual(new Set([" none", "/other text"]));
});
