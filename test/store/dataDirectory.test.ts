import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStores } from "../../src/store/openStores.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** What a start with this directory says. */
const errorOf = async (DATA_DIR: string): Promise<string> => {
  const onEvent = () => undefined;
  try {
    await (await openStores({ REDIS_URL: undefined, DATA_DIR, onEvent })).close();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

test("a missing directory is made with its parents, for this user alone", async () => {
  const directory = join(temporaryFolder(), "a/b");
  expect([await errorOf(directory), await errorOf(directory)]).toEqual(["", ""]);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test.each(["/proc/x", "/proc/x/y", "/sys/x"])("%s stops the start at once", async (directory) => {
  const message = await errorOf(directory);
  expect(message).toMatch(
    /^DATA_DIR: \/(proc|sys)\/x\S* cannot be used: .*\((ENOENT|EPERM|EACCES|EROFS): [^\n]*; needed is a directory/,
  );
});

test("a file, a path through one and a dangling link are no directories", async () => {
  const place = temporaryFolder();
  writeFileSync(join(place, "file"), "");
  symlinkSync(join(place, "nowhere/at/all"), join(place, "link"));
  expect(await errorOf(join(place, "file"))).toContain("/file cannot be used: it is no directory");
  expect(await errorOf(join(place, "file/below"))).toContain(
    "/file/below cannot be used: a part of its path is no directory",
  );
  expect(await errorOf(join(place, "link"))).toContain("/link cannot be used: it is no directory");
});

test("a link to a directory is one; with Redis or in a check it is not used", async () => {
  const place = temporaryFolder();
  mkdirSync(join(place, "real"));
  symlinkSync(join(place, "real"), join(place, "link"));
  expect(await errorOf(join(place, "link"))).toBe("");
  const DATA_DIR = join(place, "unused");
  const [onEvent, REDIS_URL] = [() => undefined, "redis://127.0.0.1:1"];
  for (const settings of [{ REDIS_URL }, { REDIS_URL: undefined, isCheck: true }])
    await (await openStores({ DATA_DIR, ...settings, onEvent })).close();
  expect(existsSync(DATA_DIR)).toBe(false);
});
