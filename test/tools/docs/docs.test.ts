import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { exampleTarget } from "../../../src/endpoint/canonicalRequest.ts";
import { withTables } from "../../../src/tools/docs/tables.ts";
import { settingsSchema } from "../../../src/settings/settings.ts";
import type { Endpoint } from "../../../src/endpoint/endpoint.ts";
import { endpoints } from "../../../transforms/index.ts";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

test("the README's tables of endpoints and rules are those of the definitions (npm run docs makes them)", () => {
  expect(read("README.md")).toBe(withTables(read("README.md"), endpoints));
  expect(read("README.md")).toContain("<!-- /rules -->");
});

test("the README names every setting", () => {
  const readme = read("README.md");
  expect(Object.keys(settingsSchema.shape).filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});

test("the README names every event that is counted", () => {
  const sources = readdirSync(new URL("../../../src", import.meta.url), { recursive: true, encoding: "utf8" });
  const events = sources
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [...read(`src/${file}`).matchAll(/\b(?:event|onEvent)\(\s*"(\w+)"/g)].map(([, name]) => name));
  expect(events.length).toBeGreaterThan(10);
  expect(events.filter((name) => !read("README.md").includes(`\`${name}\``))).toEqual([]);
});

test("every endpoint's file is in the index, under its own name", () => {
  const isEndpoint = (file: string) => /= (endpoint|tagging)\("/.test(read(`transforms/${file}`));
  const files = readdirSync(new URL("../../../transforms", import.meta.url)).filter(isEndpoint);
  expect(files.map((file) => file.replace(".ts", "")).toSorted()).toEqual(Object.keys(endpoints).toSorted());
});

test.each(
  Object.entries(endpoints).flatMap(([name, endpoint]: [string, Endpoint]) =>
    Object.entries(endpoint.examples).map(([example, input]) => [name, example, endpoint, input] as const),
  ),
)("%s: the example %s is an input it reads", (_, __, endpoint, input) => {
  for (const [field, value] of Object.entries(input))
    expect(endpoint.input[field]?.fromJson(value)).toHaveProperty("value");
  expect(exampleTarget(endpoint, input) === undefined).toBe(endpoint.writes !== undefined);
});
