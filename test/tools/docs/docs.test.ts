import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { exampleTarget } from "../../../src/endpoint/canonicalRequest.ts";
import { documentsWithTables, withTables } from "../../../src/tools/docs/tables.ts";
import { settingsSchemaOf } from "../../../src/settings/settings.ts";
import { fragments } from "../../support/settings.ts";
import type { Endpoint } from "../../../src/endpoint/endpoint.ts";
import { endpoints } from "../../../transforms/index.ts";
import { anchorsOf, relativeLinks } from "./markdown.ts";

const root = join(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** What is in backticks in the first `columns` cells of a document's tables. */
const namesInTables = (path: string, columns = 1): string[] =>
  [...read(path).matchAll(/^\|.*$/gm)].flatMap(([row]) =>
    row
      .split("|")
      .slice(1, 1 + columns)
      .flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name as string)),
  );

const sources = globSync("src/**/*.ts", { cwd: root }).map(read).join("\n");
const found = (pattern: RegExp) => [...sources.matchAll(pattern)].map(([, ...groups]) => groups);

test.each(documentsWithTables)("the tables of %s are those of the definitions (npm run docs makes them)", (path) => {
  expect(read(path)).toMatch(/<!-- (\w+): made by npm run docs -->[^]+<!-- \/\1 -->/);
  expect(read(path)).toBe(withTables(read(path), endpoints));
});

test("the README names every endpoint and each of its routes", () => {
  const readme = read("README.md");
  const names = Object.entries(endpoints).flatMap(([name, { routes }]: [string, Endpoint]) => [name, ...routes]);
  expect(names.filter((name) => !readme.includes(`| \`${name}\` |`))).toEqual([]);
});

test("the tables of docs/operate.md have every setting", () => {
  const named = namesInTables("docs/operate.md");
  expect(Object.keys(settingsSchemaOf(fragments).shape).filter((name) => !named.includes(name))).toEqual([]);
});

test("docs/operate.md names no setting that does not exist", () => {
  const named = namesInTables("docs/operate.md").filter((name) => /^[A-Z]/.test(name));
  expect(named.filter((name) => !(name in settingsSchemaOf(fragments).shape))).toEqual([]);
});

test("docs/operate.md has every event, with the level that it is logged at", () => {
  const levels = new Map(
    [...read("docs/operate.md").matchAll(/^\| `(\w+)` \| (info|warn|error) \|/gm)].map(([, name, level]) => [
      name,
      level,
    ]),
  );
  // Where the name is put together, its beginning stands in the source: `private_walk_${...}`. The store's events get their names from features.
  const events = found(/\b(?:event|onEvent)\(\s*["`](\w+_\w*)/g).flat();
  expect(events.length).toBeGreaterThan(10);
  expect(events.filter((name) => ![...levels.keys()].some((one) => one?.startsWith(name)))).toEqual([]);
  for (const [level, event] of found(/\blog\.(info|warn|error)\(\{\s*event: "(\w+)"/g))
    expect([event, levels.get(event)]).toEqual([event, level]);
});

test("docs/operate.md or docs/private-datasets.md has every metric", () => {
  const documented = new Set([...namesInTables("docs/operate.md"), ...namesInTables("docs/private-datasets.md", 2)]);
  const metrics = [
    ...found(/\bcounter\("(\w+)"/g).map(([name]) => `gateway_${name}`),
    ...found(/\.gauge\(\s*"(\w+)"/g).map(([name]) => `gateway_${name}`),
    ...found(/\.total\(\s*"(\w+)"/g).map(([name]) => `gateway_${name}_total`),
    ...found(/\bname: "(gateway_\w+)"/g).flat(),
  ];
  expect(metrics.length).toBeGreaterThan(30);
  expect(metrics.filter((name) => !documented.has(name))).toEqual([]);
});

test("CONTRIBUTING gives a reason for every dependency", () => {
  const contributing = read("CONTRIBUTING.md");
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read("package.json")) as Record<
    "dependencies" | "devDependencies" | "optionalDependencies",
    Record<string, string>
  >;
  const packages = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  const reasoned = new Set(
    [...contributing.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, names = ""]) => names.replaceAll("`", "").split(", ")),
  );
  expect(packages.filter((name) => !reasoned.has(name) && !name.startsWith("node-"))).toEqual([]);
});

test("the README is one page: at most 180 lines of at most 120 characters", () => {
  const lines = read("README.md").trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(180);
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
});

test("the README leads to every document", () => {
  const linked = new Set(relativeLinks(read("README.md")).map(({ path }) => path));
  expect(globSync("docs/*.md", { cwd: root }).filter((path) => !linked.has(path))).toEqual([]);
});

test.each(["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...globSync("docs/*.md", { cwd: root })])(
  "every relative link of %s leads to a file and an anchor that exist",
  (path) => {
    const broken = relativeLinks(read(path)).filter((link) => {
      const target = link.path === "" ? path : join(dirname(path), link.path);
      if (!existsSync(join(root, target))) return true;
      return link.anchor !== undefined && !anchorsOf(read(target)).includes(link.anchor);
    });
    expect(broken).toEqual([]);
  },
);

test("every endpoint's file is in the index, under its own name", () => {
  const isEndpoint = (file: string) => /= (endpoint|tagging)\("/.test(read(`transforms/${file}`));
  const files = globSync("*.ts", { cwd: join(root, "transforms") }).filter(isEndpoint);
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
