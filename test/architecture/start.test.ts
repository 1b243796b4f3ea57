import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const files = globSync("src/**/*.ts", { cwd: root }).filter((file) => !/^src\/tools\/(?!sampleLegacy)/.test(file));

/** The files that import values of a package, and not its types alone. */
const importersOf = (name: string): string[] =>
  files.filter((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/^import (?!type )[^;]*? from "([^"]+)";/gm)].some(
      ([, from]) => from === name,
    ),
  );

test("the importers of a package are found", () => {
  expect(importersOf("lru-cache")).toContain("src/gateway/cache/store.ts");
});

test.each(["node:http", "undici", "fast-xml-parser", "entities/decode", "yaml", "commander"])(
  "no start loads the whole of %s",
  (name) => {
    expect(importersOf(name)).toEqual([]);
  },
);
