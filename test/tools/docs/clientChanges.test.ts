import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readPairs } from "../../../fixtures/pairs.ts";
import { clientChanges } from "../../../src/tools/docs/clientChanges.ts";
import { withParts } from "../../../src/tools/docs/tables.ts";
import type { Rule } from "../../../src/rules/rule.ts";
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

const sectionOf = (name: string): string => made.split(`### ${name}\n`)[1]?.split("### ")[0] ?? "";

/** The old and the new name of every field that has a new one. */
const renamingsIn = (rule: Rule): string[] =>
  Object.entries(rule.inside ?? {}).flatMap(([to, inner]) => [
    ...(inner.from === undefined ? [] : [`\`${inner.from}\` -> \`${to}\``]),
    ...renamingsIn(inner),
  ]);

test("a row about a new name has the field's own names", () => {
  const renamings = Object.entries(endpoints).map(([name, { output }]) => [name, renamingsIn(output)] as const);
  expect(Object.fromEntries(renamings)).toMatchObject({
    getTask: ["`task_id` -> `id`", "`task_name` -> `name`", "`tag` -> `tags`"],
  });
  for (const [name, own] of renamings)
    expect([
      name,
      [...sectionOf(name).matchAll(/`\w+` -> `\w+`(?=: the (field|value))/g)].map(([names]) => names).toSorted(),
    ]).toEqual([name, [...new Set(own)].toSorted()]);
});

test.each(["listEvaluations", "listEvaluationsWithSetups"])("%s has its requests and changes, out of XML", (name) => {
  expect(sectionOf(name)).toMatch(/\| `GET \/api\/v1\/xml\/evaluation\/.*` \| `POST \/v1\/evaluations\/.*` \|/);
  expect(sectionOf(name)).toContain("| `[].upload_time` |");
});

test("an error counts as one of every endpoint only if nearly all have it", () => {
  const rows =
    made
      .split("### ")[1]
      ?.split("\n")
      .filter((line) => line.startsWith("| `")) ?? [];
  expect(rows).toHaveLength(3);
  expect(rows.join("\n")).not.toMatch(/"361"|"104"/);
  expect(sectionOf("getDatasetQualities")).toContain('"code":"361"');
  expect(sectionOf("findFlow")).toContain(
    '| `200 {"flow_exists":{"exists":"false","id":"-1"}}` | `404 {"detail":"Flow not found."}` |',
  );
});

test("a write's error is that of the write, not of what the gateway looks at besides", () => {
  expect(sectionOf("tagRun")).toMatch(/\| `412 \{"code":"105"[^|]*\| `502 \{"detail":\{"code":"105"/);
  expect(sectionOf("tagRun")).not.toContain('{"code":"107"');
});

test("a file that is sent is shown, and fields of a flow within a flow stand once", () => {
  expect(sectionOf("createStudy")).toContain("description=@<oml:study ");
  expect(sectionOf("getFlow")).toContain("`subflows[].identifier`");
  expect(sectionOf("getFlow")).not.toContain("subflows[].flow.");
});

test("no key and no mark of a free text is shown", () => {
  expect(made).not.toMatch(/api_key|AD0{30}/);
  expect(made).not.toContain('"*"');
});
