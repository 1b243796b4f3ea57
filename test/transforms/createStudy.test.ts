import { expect, test } from "vitest";
import type { Field } from "../../src/endpoint/field.ts";
import { createStudy } from "../../transforms/createStudy.ts";
import { endpoints } from "../../transforms/index.ts";

const alias = createStudy.input["alias"] as Field<unknown>;

/** The fixed words that stand where the alias of a study stands. */
const words = new Set(
  Object.values(endpoints)
    .flatMap(({ routes }) => routes)
    .flatMap((route) => /^\w+ \/stud(?:y|ies)\/(\w+)(?:\/|$)/.exec(route)?.[1] ?? []),
);

test("a study's alias is no fixed word of a path, and no number", () => {
  expect(words.size).toBeGreaterThan(2);
  const isRefused = (word: string) => !alias.fromJson(word).ok;
  const refused = [...words, "7", "007", "-1", "1.5", "1.", ".5", "1e3", "1E-3"];
  expect(refused.filter(isRefused)).toEqual(refused);
  expect(
    ["1.2.3", "2024.01.01", "...", "OpenML100", "lists", "List", "1a", "e3", "a-1", "-", "1e"].filter(isRefused),
  ).toEqual([]);
});
