import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./imports.ts";

/** Lines of TypeScript at most. Who adds takes away; a number rises only in a commit that says why. */
const budget = {
  "src transforms": 21_257,
  "src transforms features libraries tools": 41_367,
  test: 41_113,
};

test.each(Object.entries(budget))("%s has at most %i lines", (folders, most) => {
  const files = folders.split(" ").flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }));
  const lines = files.map((file) => readFileSync(join(root, file), "utf8").split("\n").length - 1);
  expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(most);
});
