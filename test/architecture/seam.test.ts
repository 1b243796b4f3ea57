import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./imports.ts";

const textOf = (path: string): string => readFileSync(join(root, path), "utf8");

test("the table of the seam has a row for each member of a feature, and no other", () => {
  const [, type = ""] = /^export type Feature<.*\{\n([^]*?)^\};$/m.exec(textOf("src/gateway/answer/feature.ts")) ?? [];
  const members = [...type.matchAll(/^ {2}(\w+)\?:/gm)].map(([, name]) => name);
  const [, table = ""] = /^\| member \| .*\n.*\n((?:\|.*\n)+)/m.exec(textOf("docs/architecture.md")) ?? [];
  const rows = [...table.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(members.length).toBeGreaterThan(10);
  expect(new Set(rows)).toEqual(new Set(members));
});
