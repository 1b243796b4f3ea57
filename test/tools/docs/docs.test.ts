import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { documentsWithTables, withTables } from "../../../tools/docs/tables.ts";
import { allEvents } from "../../../features/index.ts";
import { fragments } from "../../support/settings.ts";
import { endpoints } from "../../../transforms/index.ts";
import { anchorsOf, relativeLinks } from "./markdown.ts";

const root = join(import.meta.dirname, "../../..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** The names in backticks in the first `columns` cells of a document's tables. */
const namesInTables = (path: string, columns = 1): string[] =>
  [...read(path).matchAll(/^\|.*$/gm)].flatMap(([row]) =>
    row
      .split("|")
      .slice(1, 1 + columns)
      .flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name as string)),
  );

const events = await allEvents();

const sources = globSync("{src,libraries,features,tools}/**/*.ts", { cwd: root }).map(read).join("\n");
const found = (pattern: RegExp) => [...sources.matchAll(pattern)].map(([, ...groups]) => groups);

test.each(documentsWithTables)("the tables of %s are as npm run docs writes them", (path) => {
  expect(read(path)).toMatch(/<!-- (\w+): made by npm run docs -->[^]+<!-- \/\1 -->/);
  expect(read(path)).toBe(withTables(read(path), { endpoints, fragments, events }));
});

test("every event that is logged has a definition", () => {
  expect(Object.keys(events).length).toBeGreaterThan(0);
  // Where the name is put together, its beginning stands in the source: `code_${...}`. The store's events get
  // their names from features.
  const logged = found(/\b(?:event|onEvent)\(\s*["`](\w+_\w*)/g).flat();
  expect(logged.length).toBeGreaterThan(0);
  expect(logged.filter((name) => !Object.keys(events).some((event) => event.startsWith(name)))).toEqual([]);
});

test("docs/operate.md and docs/private-datasets.md have every metric, and no other", () => {
  const documented = new Set([...namesInTables("docs/operate.md"), ...namesInTables("docs/private-datasets.md", 2)]);
  const metrics = found(/\b(?:counter|histogram|gauge|total)\(\s*"(\w+)"/g).map(([name]) => `catalog_gateway_${name}`);
  expect(metrics.length).toBeGreaterThan(0);
  expect(metrics.filter((name) => !documented.has(name))).toEqual([]);
  const known = new Set(metrics);
  expect([...documented].filter((name) => name.startsWith("catalog_gateway_") && !known.has(name))).toEqual([]);
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

test("the README is one page: at most 120 lines of at most 120 characters", () => {
  const lines = read("README.md").trimEnd().split("\n");
  expect(lines.length).toBeLessThanOrEqual(120);
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
});

test("the README links to every document", () => {
  const linked = new Set(relativeLinks(read("README.md")).map(({ path }) => path));
  expect(globSync("docs/*.md", { cwd: root }).filter((path) => !linked.has(path))).toEqual([]);
});

test.each([
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "deploy/README.md",
  ...globSync("docs/*.md", { cwd: root }),
])("every relative link of %s leads to a file and an anchor that exist", (path) => {
  const broken = relativeLinks(read(path)).filter((link) => {
    const target = link.path === "" ? path : join(dirname(path), link.path);
    if (!existsSync(join(root, target))) return true;
    return link.anchor !== undefined && !anchorsOf(read(target)).includes(link.anchor);
  });
  expect(broken).toEqual([]);
});
