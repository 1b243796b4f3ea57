import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { hashOf } from "../../../src/operation/telemetry/buildId.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const write = (directory: string, path: string, text: string): void => {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), text);
};

test("the build id follows the names and content of all code, and the lock file", () => {
  const directory = temporaryFolder();
  const code = ["src/a.ts", "src/b/c.css", "transforms/d.json", "libraries/e.ts", "features/f/g.js", "tools/h.ts"];
  const files = Object.fromEntries([...code, "package-lock.json"].map((path) => [path, path]));
  for (const [path, text] of Object.entries(files)) write(directory, path, text);
  const ids = [hashOf(directory)];
  for (const path of Object.keys(files)) {
    // The new content has the same length.
    write(directory, path, "x");
    ids.push(hashOf(directory));
  }
  write(directory, "src/new.ts", "");
  ids.push(hashOf(directory));
  expect(new Set(ids).size).toBe(ids.length);
  for (const [path, text] of Object.entries(files)) write(directory, path, text);
  rmSync(join(directory, "src/new.ts"));
  expect(hashOf(directory)).toBe(ids[0]);
});
