import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { buildId, hashOf } from "../../../src/operation/telemetry/buildId.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const write = (directory: string, path: string, text: string): void => {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), text);
};

test("the build id follows names and content of source, transforms and lock file", () => {
  const directory = temporaryFolder();
  const files = { "src/a.ts": "1", "src/b/c.css": "2", "transforms/d.json": "3", "package-lock.json": "4" };
  for (const [path, text] of Object.entries(files)) write(directory, path, text);
  const ids = [hashOf(directory)];
  for (const path of Object.keys(files)) {
    // Of the same length.
    write(directory, path, "x");
    ids.push(hashOf(directory));
  }
  write(directory, "src/new.ts", "");
  ids.push(hashOf(directory));
  expect(new Set(ids).size).toBe(6);
  for (const [path, text] of Object.entries(files)) write(directory, path, text);
  rmSync(join(directory, "src/new.ts"));
  expect(hashOf(directory)).toBe(ids[0]);
});

test("a folder without package-lock.json has no build id; this checkout has one", () => {
  expect(() => hashOf(temporaryFolder())).toThrow(/package-lock\.json/);
  expect(buildId()).toMatch(/^[\w-]{16}$/);
});
