import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { notWalked } from "../../../../src/features/privateDatasets/rows.ts";
import { fileStore } from "../../../../src/features/privateDatasets/store/fileStore.ts";
import { openFile, temporaryDirectory } from "../../migration/store/support.ts";
import { row, scope, walked } from "./rows.ts";
import { openWith } from "./support.ts";
import { until } from "../../../support/waiting.ts";

const good = {
  format: 1,
  of: scope,
  rows: [row(7), { id: 9, uploader: 3 }],
  walk: { ...walked(40), completedAt: 5, progressAt: 6 },
};

/** A directory with this in its file. */
const containing = (content: unknown) => {
  const directory = temporaryDirectory();
  const file = join(directory, "private-rows.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return { directory, file };
};
const readIn = (file: string) => JSON.parse(readFileSync(file, "utf8")) as object;

test("what was saved is there at the next start, for nobody else to read", async () => {
  const directory = join(temporaryDirectory(), "not", "there", "yet");
  const { store, told, learn } = await openWith(fileStore({ directory, scope }));
  learn({ rows: good.rows });
  learn({ walk: good.walk });
  await store.close();
  expect([store.kind, store.mayWalk(), told]).toEqual(["directory", true, []]);
  const file = join(directory, "private-rows.json");
  expect(readIn(file)).toEqual(good);
  expect([statSync(directory).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(readdirSync(directory).toSorted()).toEqual(["private-rows.json", "private-rows.lock"]);
  const next = await openWith(fileStore({ directory, scope }));
  expect([next.told, next.events]).toEqual([["all: 7 9 walk"], []]);
  expect(next.known()).toEqual({ rows: good.rows, walk: good.walk });
});

test("many saves are few writes, and the last of them is there", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, "private-rows.json");
  const { learn } = await openWith(fileStore({ directory, scope, delay: 150 }));
  for (let id = 1; id <= 20; id++) learn({ rows: [row(id)] });
  expect(existsSync(file)).toBe(false);
  await until(() => existsSync(file));
  expect(readIn(file)).toMatchObject({ rows: Array.from({ length: 20 }, (_, i) => row(i + 1)) });
  const { ino } = statSync(file);
  for (let at = 1; at <= 20; at++) learn({ walk: walked(at) });
  expect(statSync(file).ino).toBe(ino);
  await until(() => statSync(file).ino !== ino);
  expect(readIn(file)).toMatchObject({ walk: walked(20) });
});

test("nothing new is nothing written, and nothing is after it is closed", async () => {
  const { directory, file } = containing(good);
  const before = statSync(file).ino;
  const { store, learn } = await openWith(fileStore({ directory, scope, delay: 1 }));
  await store.close();
  learn({ rows: [row(8)] });
  await new Promise((resolve) => setTimeout(resolve, 30));
  await store.close();
  expect([statSync(file).ino, readIn(file)]).toEqual([before, good]);
});

test.each([
  ["nothing", "", "is not valid JSON"],
  ["half of it", JSON.stringify(good).slice(0, 60), "is not valid JSON"],
  ["no object", [], "expected object"],
  ["another format", { ...good, format: 2 }, "/format: another version's format; this one reads 1"],
  ["a row without an id", { ...good, rows: [{ shown: {} }] }, "/rows/0/id: "],
  ["nothing of whose it is", { ...good, of: undefined }, "/of: "],
  ["what is of another legacy", { ...good, of: "another" }, '"it is of another legacy"'],
  ["an unknown field", { ...good, owner: "olga" }, "owner"],
])("a file with %s is told and stops nothing; the next save takes its place", async (_, content, why) => {
  const { directory, file } = containing(content);
  const { store, told, events, known, learn } = await openWith(fileStore({ directory, scope }));
  expect([told, known()]).toEqual([[], { rows: [], walk: notWalked }]);
  expect(events).toEqual([expect.stringContaining(`private_index_store_unreadable {"file":${JSON.stringify(file)}`)]);
  expect(events[0]).toContain(why);
  learn({ rows: [row(8)] });
  await store.close();
  expect(readIn(file)).toEqual({ format: 1, of: scope, rows: [row(8)], walk: notWalked });
});

test("what a crash has left half-written beside the file is not read", async () => {
  const { directory, file } = containing(good);
  writeFileSync(`${file}.tmp`, '{"format": 1, "rows": [');
  const { store, told, learn } = await openWith(fileStore({ directory, scope }));
  expect(told).toEqual(["all: 7 9 walk"]);
  learn({ gone: [9] });
  await store.close();
  expect([existsSync(`${file}.tmp`), readIn(file)]).toEqual([false, { ...good, rows: [row(7)] }]);
});

test("a write that fails is told once and made again until it works", async () => {
  const { directory, file } = containing(good);
  const { events, learn } = await openWith(fileStore({ directory, scope, delay: 10 }));
  // What is in the way of the temporary file.
  mkdirSync(`${file}.tmp`);
  learn({ rows: [row(8)] });
  await until(() => events.length > 0);
  learn({ walk: walked(41) });
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(events).toEqual([expect.stringMatching(/^private_index_store_lost .*EISDIR/)]);
  rmdirSync(`${file}.tmp`);
  await until(() => events.length > 1);
  expect(events[1]).toMatch(/^private_index_store_up /);
  expect(readIn(file)).toMatchObject({ rows: [row(7), row(8), good.rows[1]], walk: walked(41) });
});

test("one directory is one store's; the migration's store may be in it too", async () => {
  const directory = temporaryDirectory();
  const first = await openWith(fileStore({ directory, scope }));
  await openFile(directory);
  await expect(openWith(fileStore({ directory, scope }))).rejects.toThrow(
    "private-rows.lock; allowed is one gateway a directory",
  );
  await first.store.close();
  await openWith(fileStore({ directory, scope }));
});

test("a directory that is a file is an error at the start", async () => {
  const directory = join(temporaryDirectory(), "data");
  writeFileSync(directory, "");
  await expect(openWith(fileStore({ directory, scope }))).rejects.toThrow(
    `DATA_DIR: ${directory} cannot be used: EEXIST`,
  );
});

test("a directory that must not be written to is an error at the start", async () => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o500);
  const message = await new Promise<string>((resolve) => {
    const child = join(import.meta.dirname, "savingChild.ts");
    execFile(process.execPath, [child, directory, "nobody"], (_, __, stderr) => resolve(stderr));
  });
  expect(message).toMatch(/DATA_DIR: \S+ cannot be used: EACCES/);
});
