import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dataDirectoryErrors } from "../../src/store/dataDirectory.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const errorOf = (DATA_DIR: string) => dataDirectoryErrors({ DATA_DIR, REDIS_URL: undefined }).join("\n");

test("a missing directory is made with its parents, for this user alone", () => {
  const directory = join(temporaryFolder(), "a/b");
  expect([errorOf(directory), errorOf(directory)]).toEqual(["", ""]);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test.each(["/proc/x", "/proc/x/y", "/sys/x"])("%s stops the start at once", (directory) => {
  const message = errorOf(directory);
  expect(message).toMatch(
    /^DATA_DIR: \/(proc|sys)\/x\S* cannot be used: .*\((ENOENT|EPERM|EACCES|EROFS): [^\n]*; needed is a directory/,
  );
});

test("a file, a path through one and a dangling link are no directories", () => {
  const place = temporaryFolder();
  writeFileSync(join(place, "file"), "");
  symlinkSync(join(place, "nowhere/at/all"), join(place, "link"));
  expect(errorOf(join(place, "file"))).toContain("/file cannot be used: it is no directory");
  expect(errorOf(join(place, "file/below"))).toContain(
    "/file/below cannot be used: a part of its path is no directory",
  );
  expect(errorOf(join(place, "link"))).toContain("/link cannot be used: it is no directory");
});

test("a link to a directory is one; with Redis it is not used", () => {
  const place = temporaryFolder();
  mkdirSync(join(place, "real"));
  symlinkSync(join(place, "real"), join(place, "link"));
  expect(errorOf(join(place, "link"))).toBe("");
  const DATA_DIR = join(place, "unused");
  expect(dataDirectoryErrors({ DATA_DIR, REDIS_URL: "redis://127.0.0.1" })).toEqual([]);
  expect(existsSync(DATA_DIR)).toBe(false);
});
