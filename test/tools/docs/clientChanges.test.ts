import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readPairs } from "../../../fixtures/pairs.ts";
import { clientChanges } from "../../../src/tools/docs/clientChanges.ts";
import { withParts } from "../../../src/tools/docs/tables.ts";
import { endpoints } from "../../../transforms/index.ts";

const text = readFileSync(new URL("../../../docs/clients.md", import.meta.url), "utf8");
const made = clientChanges(endpoints, readPairs(), "/v1");

test("docs/clients.md has the changes that follow from rules and fixtures", () => {
  expect(text).toContain("<!-- clientChanges: made by npm run docs -->");
  expect(withParts(text, { clientChanges: made })).toBe(text);
});

test("every endpoint has its section, and no row is longer than a person reads", () => {
  for (const name of Object.keys(endpoints)) expect(made).toContain(`### ${name}\n`);
  const sections = made.split("### ").slice(1);
  expect(sections.filter((section) => !section.includes("| --- |"))).toEqual([]);
  expect(made.split("\n").filter((line) => line.length > 1200)).toEqual([]);
});

test("a section says how requests, fields and errors change", () => {
  const section = made.split("### getDataset\n")[1]?.split("### ")[0];
  expect(section).toMatch(/\| `GET \/api\/v1\/json\/data\/(\d+)` \| `GET \/v1\/datasets\/\1` \|/);
  expect(section).toMatch(/\| `"61"` -> `61` \| `id`, .*`file_id` \| `"\d+"` \| `\d+` \|/);
  expect(section).toContain('| `412 {"code":"112","message":"No access granted"}` | `403 {"detail":{"code":"112",');
});

test("no key and no mark of a free text is shown", () => {
  expect(made).not.toMatch(/api_key|AD0{30}/);
  expect(made).not.toContain('"*"');
});
