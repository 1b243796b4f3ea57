import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { isTemporary } from "../../../src/operation/settings/temporary.ts";
import { refusal } from "../../../libraries/stores/dataDirectory.ts";
import { openStores } from "../../../libraries/stores/openStores.ts";
import { openAt, put, textOf } from "./support.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const child = join(import.meta.dirname, "storingChild.ts");
const fileIn = (directory: string) => join(directory, "catalog-gateway.sqlite");
const inDirectory = (directory: string, settings: Parameters<typeof openAt>[1] = {}) =>
  openAt({ DATA_DIR: directory }, settings);

/** Changes a database that no store has open. */
const alter = (file: string, sql: string) => {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
};
const messageOf = (opening: Promise<unknown>): Promise<string> => opening.then(String, ({ message }: Error) => message);

test("directory and database are for this user alone, and for one gateway at a time", async () => {
  const directory = join(temporaryFolder(), "not", "there", "yet");
  const store = await inDirectory(directory);
  await put(store, "a", "one");
  for (const name of readdirSync(directory))
    expect([name, statSync(join(directory, name)).mode & 0o777]).toEqual([name, 0o600]);
  await expect(inDirectory(directory)).rejects.toThrow(
    `DATA_DIR: ${directory} cannot be used: another process uses it and holds ${fileIn(directory)}; allowed is one gateway a directory`,
  );
  await store.stores.close();
  expect([statSync(directory).mode & 0o777, readdirSync(directory)]).toEqual([0o700, ["catalog-gateway.sqlite"]]);
  expect(textOf(await inDirectory(directory))).toBe("a=one");
});

/** The file of a directory in which `a` is `one`, and much else. */
const stored = async (directory: string) => {
  const store = await inDirectory(directory);
  await put(store, "a", "one");
  await put(store, "b", "x".repeat(100_000));
  await store.stores.close();
  return fileIn(directory);
};

/** Files that are not as they were written, and why. */
const spoiled: [string, (file: string) => void, string][] = [
  ["garbage", (file) => writeFileSync(file, "1234\n".repeat(200)), "file is not a database"],
  ["damaged pages", (file) => writeFileSync(file, readFileSync(file).fill(7, 6000, 60_000)), "disk image is malformed"],
  ["an unreadable value", (file) => alter(file, "UPDATE entries SET value = 'x'"), "things/a: /: "],
  [
    "a later version",
    (file) => alter(file, "PRAGMA user_version = 2"),
    "another version's format (2); this one reads 1",
  ],
];

test.each(spoiled)("a file with %s stops the start, says why, and stays as it is", async (_, spoil, why) => {
  const directory = temporaryFolder();
  const file = await stored(directory);
  spoil(file);
  const before = readFileSync(file);
  for (let i = 0; i < 2; i++) {
    const message = await messageOf(inDirectory(directory, { isVital: true }));
    expect(message).toContain(`DATA_DIR: ${directory} cannot be used: ${file}`);
    expect(message).toContain(why);
    expect(message).toContain("it is left as it is: repair it, or move it away to begin with nothing set");
  }
  expect(readFileSync(file)).toEqual(before);
});

test("a place that cannot be a directory with a database stops the start at once", async () => {
  const place = temporaryFolder();
  writeFileSync(join(place, "file"), "");
  symlinkSync(join(place, "nowhere/at/all"), join(place, "link"));
  mkdirSync(fileIn(join(place, "other")), { recursive: true });
  for (const [path, why] of [
    [join(place, "file"), /it is no directory/],
    [join(place, "file/below"), /a part of its path is no directory/],
    [join(place, "link"), /it is no directory/],
    [join(place, "other"), /EISDIR/],
    ["/proc/x/y", /\((ENOENT|EPERM|EACCES|EROFS): .*; needed is a directory/],
  ] as const) {
    const message = await messageOf(inDirectory(path));
    expect(message).toContain(`DATA_DIR: ${path} cannot be used: `);
    expect(message).toMatch(why);
  }
});

test("a full or failing disk is a temporary error, wrong rights are not", () => {
  // SQLITE_IOERR_WRITE, SQLITE_FULL, SQLITE_READONLY
  const codes = [{ code: "ENOSPC" }, { errcode: 778 }, { errcode: 13 }, { code: "EACCES" }, { errcode: 8 }];
  const mayPass = codes.map((code) => isTemporary(refusal("/data", Object.assign(new Error("it fails"), code))));
  expect(mayPass).toEqual([true, true, true, false, false]);
});

test("a link to a directory is followed; with Redis or in a check it is not used", async () => {
  const place = temporaryFolder();
  mkdirSync(join(place, "real"));
  symlinkSync(join(place, "real"), join(place, "link"));
  expect(textOf(await inDirectory(join(place, "link")))).toBe("");
  const DATA_DIR = join(place, "unused");
  const [onEvent, REDIS_URL] = [() => undefined, "redis://127.0.0.1:1"];
  for (const settings of [{ REDIS_URL }, { REDIS_URL: undefined, isCheck: true }])
    await (await openStores({ DATA_DIR, ...settings, onEvent })).close();
  expect(existsSync(DATA_DIR)).toBe(false);
});

test("a directory that must not be written to is an error at the start", ({ skip }) => {
  const directory = temporaryFolder();
  chmodSync(directory, 0o500);
  // Root may write anywhere. Without that right it can still read the child's code, in whatever folder this lies.
  const asOthers = process.getuid?.() === 0 ? ["setpriv", "--bounding-set=-dac_override"] : [];
  const [program, ...args] = [...asOthers, process.execPath, child, directory];
  const { stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  skip(error !== undefined || stderr.startsWith("setpriv: "), "root needs setpriv (util-linux) to lose that right");
  expect(stderr).toMatch(/DATA_DIR: \S+ cannot be used: this user may not write to it \(EACCES/);
});

test("an update that does not fit on the disk rejects; a later one that fits is made", () => {
  const directory = temporaryFolder();
  // Files may have 100 KB: the shell's blocks are of 512 bytes.
  const command = `trap '' XFSZ; ulimit -f 200; exec "$0" "$@"`;
  const { stdout, stderr } = spawnSync("sh", ["-c", command, process.execPath, child, directory, "full"], {
    encoding: "utf8",
  });
  expect([stdout, stderr]).toEqual([expect.stringMatching(/^store_lost .*\nrejected .*\nstore_up .*\na=small\n$/), ""]);
});

test("after a kill the next process finds all acknowledged values, whole", async () => {
  const directory = temporaryFolder();
  let before = 0;
  for (let i = 0; i < 4; i++) {
    const storing = spawn(process.execPath, [child, directory], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void storing.kill("SIGKILL"));
    let text = "";
    storing.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const isOver = once(storing, "close");
    await once(storing.stdout, "data");
    await new Promise((resolve) => setTimeout(resolve, i * 6.1));
    await expect(inDirectory(directory)).rejects.toThrow("another process uses it");
    storing.kill("SIGKILL");
    // All that it has written is read by then.
    await isOver;
    const last = Number(text.trimEnd().split("\n").at(-1));
    expect(last).toBeGreaterThan(before);
    const store = await inDirectory(directory);
    const { size } = store.entries();
    // One more may be on the disk whose acknowledgement was cut off.
    expect([last, last + 1]).toContain(size);
    for (let key = 1; key <= size; key++) expect(store.entries().get(`${key}`)).toEqual({ name: `value ${key}` });
    await store.stores.close();
    before = last;
  }
});
