import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./imports.ts";

const files = globSync("{src,features,libraries,tools,transforms,test,bench,fixtures}/**/*.{ts,js}", { cwd: root });

test("no line of a comment is wider than 120 columns", () => {
  const isWide = (line: string) => line.length > 120 && /^\s*(?:\/\/|\/\*|\* )/.test(line);
  const wide = files.flatMap((file) => {
    const lines = readFileSync(join(root, file), "utf8").split("\n");
    return lines.flatMap((line, i) => (isWide(line) ? [`${file}:${i + 1}`] : []));
  });
  expect(wide).toEqual([]);
});
