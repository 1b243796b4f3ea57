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
import { at, entry, moveOn, moveTo, stage } from "./moves.ts";
import { openFile, stagesOf, temporaryDirectory } from "./support.ts";

const good = {
  format: 1,
  stages: { getThing: stage(1) },
  audit: [moveTo("getThing", stage(1))],
  expected: [entry("one")],
};

const containing = (content: unknown) => {
  const directory = temporaryDirectory();
  const file = join(directory, "migration.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return { directory, file };
};

test("the file is there to be read by people, and by nobody else", async () => {
  const directory = join(temporaryDirectory(), "not", "there", "yet");
  const store = await openFile(directory);
  await moveOn(store, "getThing", 1);
  await store.expect(entry("one"));
  const file = join(directory, "migration.json");
  expect(readFileSync(file, "utf8")).toBe(`${JSON.stringify(good, null, 2)}\n`);
  expect([statSync(directory).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(readdirSync(directory).toSorted()).toEqual(["migration.json", "migration.lock"]);
});

test("an entry whose link was accepted before links had to be http(s) stops no start", async () => {
  const { directory } = containing({ ...good, expected: [{ ...entry("one"), link: "issue 12" }] });
  const store = await openFile(directory);
  expect(store.state().expected).toEqual([{ ...entry("one"), link: "issue 12" }]);
  await store.close();
});

test.each([
  ["nothing", "", "is not valid JSON"],
  ["half of it", JSON.stringify(good, null, 2).slice(0, 200), "is not valid JSON"],
  ["no object", [], "expected object"],
  ["another format", { ...good, format: 2 }, "/format: another version's format; this one reads 1"],
  ["no format", { ...good, format: undefined }, "/format: "],
  ["an unknown stage", { ...good, stages: { getThing: { ...stage(1), stage: "future" } } }, "/stages/getThing/stage: "],
  ["an unknown field", { ...good, owner: "olga" }, "owner"],
  ["a move without a time", { ...good, audit: [{ ...good.audit[0], at: undefined }] }, "/audit/0/at: "],
  ["an id twice", { ...good, expected: [entry("one"), entry("one")] }, "/expected: each id once"],
])("a file with %s stops the start, says why, and stays what it is", async (_, content, why) => {
  const { directory, file } = containing(content);
  const before = readFileSync(file);
  for (let i = 0; i < 2; i++) {
    const message = await openFile(directory).catch((error: Error) => error.message);
    expect(message).toContain(`DATA_DIR: ${directory} cannot be used: ${file} `);
    expect(message).toContain(why);
  }
  expect(readFileSync(file)).toEqual(before);
  // Nothing is held by one that did not start.
  writeFileSync(file, JSON.stringify(good));
  expect(stagesOf((await openFile(directory)).state())).toEqual(["getThing shadow 1"]);
});

test("what a crash has left half-written beside the file is not read", async () => {
  const { directory, file } = containing(good);
  writeFileSync(`${file}.tmp`, '{"format": 1, "stages": {');
  const store = await openFile(directory);
  expect(stagesOf(store.state())).toEqual(["getThing shadow 1"]);
  expect(existsSync(`${file}.tmp`)).toBe(false);
});

test("an endpoint that does not exist is told, and stays in the file", async () => {
  const { directory, file } = containing({ ...good, stages: { ...good.stages, getNoThing: stage(2) } });
  const store = await openFile(directory, { endpoints: ["getThing"] });
  expect(store.events).toEqual(['migration_store_unknown {"endpoint":"getNoThing"}']);
  await moveOn(store, "getThing", 3);
  expect(Object.keys(JSON.parse(readFileSync(file, "utf8")).stages)).toEqual(["getThing", "getNoThing"]);
});

test("the audit log keeps the newest thousand", async () => {
  const audit = Array.from({ length: 1000 }, (_, i) => moveTo("getThing", stage(1000 - i)));
  const { directory, file } = containing({ ...good, audit });
  await moveOn(await openFile(directory), "getThing", 1001);
  const kept = JSON.parse(readFileSync(file, "utf8")).audit;
  expect([kept.length, kept[0].at, kept[999].at]).toEqual([1000, at(1001), at(2)]);
});

test("one directory is one store's; when that is closed the next one may have it", async () => {
  const directory = temporaryDirectory();
  const first = await openFile(directory);
  await expect(openFile(directory)).rejects.toThrow(
    `DATA_DIR: ${directory} cannot be used: another process uses it and holds ${directory}/migration.lock; allowed is one gateway a directory`,
  );
  expect(await moveOn(first, "getThing", 1)).toBe(true);
  await first.close();
  await first.close();
  expect(stagesOf((await openFile(directory)).state())).toEqual(["getThing shadow 1"]);
});

test("what is being written when it is closed is written", async () => {
  const directory = temporaryDirectory();
  const first = await openFile(directory);
  const moved = moveOn(first, "getThing", 1);
  await first.close();
  expect(await moved).toBe(true);
  expect(stagesOf((await openFile(directory)).state())).toEqual(["getThing shadow 1"]);
});

test.each([
  ["is a file", (directory: string) => writeFileSync(directory, ""), "EEXIST"],
  [
    "has a directory for its file",
    (directory: string) => mkdirSync(join(directory, "migration.json"), { recursive: true }),
    "EISDIR",
  ],
  ["has a foreign file for its lock", foreignLock, "file is not a database"],
])("a directory that %s is an error at the start", async (_, make, why) => {
  const directory = join(temporaryDirectory(), "data");
  make(directory);
  const message = await openFile(directory).catch((error: Error) => error.message);
  expect(message).toContain(`DATA_DIR: ${directory} cannot be used: `);
  expect(message).toContain(why);
});

function foreignLock(directory: string) {
  mkdirSync(directory);
  writeFileSync(join(directory, "migration.lock"), "1234\n".repeat(200));
}

test("a directory that must not be written to is an error at the start", async () => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o500);
  const message = await new Promise<string>((resolve) => {
    const child = join(import.meta.dirname, "movingChild.ts");
    execFile(process.execPath, [child, directory, "nobody"], (_, __, stderr) => resolve(stderr));
  });
  expect(message).toMatch(/DATA_DIR: \S+ cannot be used: EACCES/);
});

test("a move that cannot be written is none, and the next one is made when it can", async () => {
  const { directory, file } = containing(good);
  const store = await openFile(directory);
  // What is in the way of the temporary file.
  mkdirSync(`${file}.tmp`);
  const before = readFileSync(file, "utf8");
  await expect(moveOn(store, "getThing", 2)).rejects.toThrow("EISDIR");
  await expect(store.expect(entry("two"))).rejects.toThrow("EISDIR");
  expect([stagesOf(store.state()), store.state().expected.length]).toEqual([["getThing shadow 1"], 1]);
  expect(store.events).toHaveLength(2);
  expect(store.events[0]).toMatch(/^migration_store_error .*EISDIR/);
  expect(readFileSync(file, "utf8")).toBe(before);
  rmdirSync(`${file}.tmp`);
  expect(await moveOn(store, "getThing", 3)).toBe(true);
});
