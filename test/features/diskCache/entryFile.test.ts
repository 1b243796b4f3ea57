import {
  cpSync,
  existsSync,
  readdirSync,
  rmSync,
  type StatsFs,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { isDamaged } from "../../../libraries/stores/dataDirectory.ts";
import { EntryFile, entryFileIn, takeAway, Unusable } from "../../../features/diskCache/entryFile.ts";
import { KnownKeys } from "../../../features/diskCache/knownKeys.ts";
import type { Invalidation } from "../../../src/gateway/index.ts";
import { casesOf } from "../../support/cases.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { MiB, setVersion } from "./support.ts";

/** Bytes of the files on the disk. */
const taken = (directory: string) =>
  readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);

/** A disk of 1 TiB on which so many bytes are free, besides those of the entries. */
const disk = { free: 1024 ** 4 };
beforeEach(() => void (disk.free = 1024 ** 4));
const statfs = ((directory: string) =>
  ({ bsize: 1, blocks: 1024 ** 4, bavail: disk.free - taken(directory) }) as StatsFs) as typeof statfsSync;

const open = ({ directory = temporaryFolder(), bytes = 64 * MiB } = {}) => {
  const file = new EntryFile(directory, bytes, new KnownKeys(bytes), statfs);
  file.countKeys();
  const close = vi.fn<() => void>(() => file.close());
  onTestFinished(() => void (close.mock.calls.length === 0 && close()));
  return {
    directory,
    close,
    /** Stores entries of these bytes, in one batch. */
    put: (entries: Record<string, number>, names = ["g/1", "g", "@e", "*"]) => {
      const rows = Object.entries(entries).map(([key, length]) => {
        const body = Buffer.alloc(length, key.length);
        return { key, names: JSON.stringify(names), head: `head of ${key}`, body };
      });
      return file.put(rows);
    },
    has: (key: string) => file.get(key)?.head === `head of ${key}`,
    get: (key: string) => file.get(key),
    invalidate: (invalidation: Invalidation) => file.invalidate(invalidation),
    size: () => file.size(),
    tend: () => file.tend(),
    tendAll: () => {
      while (file.tend());
    },
  };
};
test.each([
  [1000, 600],
  [20_000, 20],
  [200_000, 1],
  [1_000_000, 1],
])("the bound of bytes holds within 2 percent: %i bytes each", (length, inBatch) => {
  const { put, size, directory, has } = open();
  const batches = Math.ceil((80 * MiB) / length / inBatch);
  let most = 0;
  for (let batch = 0; batch < batches; batch++) {
    put(Object.fromEntries(Array.from({ length: inBatch }, (_, i) => [`${batch} ${i}`, length])));
    most = Math.max(most, taken(directory));
  }
  expect(most).toBeLessThan(64 * MiB * 1.02);
  // It is not empty after each time that entries were evicted.
  expect(size().entries * length).toBeGreaterThan(40 * MiB);
  expect([has("0 0"), has(`${batches - 1} 0`)]).toEqual([false, true]);
});

test("the least recently used goes first, and reading keeps an entry", () => {
  const { put, has, tend } = open();
  const key = (i: number) => `key ${i}`;
  for (let i = 0; i < 500; i++) put({ [key(i)]: 100_000 });
  for (const i of [3, 77]) expect(has(key(i))).toBe(true);
  tend();
  for (let i = 500; i < 900; i++) put({ [key(i)]: 100_000 });
  const left = Array.from({ length: 900 }, (_, i) => i).filter((i) => has(key(i)));
  expect(left.slice(0, 2)).toEqual([3, 77]);
  expect(left.slice(2)).toEqual(Array.from({ length: left.length - 2 }, (_, i) => 902 - left.length + i));
});

test("where the disk is short, room is given back, and all is refused that has none", () => {
  const { put, size, tendAll, directory, has } = open();
  for (let i = 0; i < 400; i++) put({ [`key ${i}`]: 100_000 });
  const before = taken(directory);
  // A tenth of the disk is to stay free.
  disk.free = 0.1 * 1024 ** 4 + before - 20 * MiB;
  tendAll();
  expect((before - taken(directory)) / MiB).toBeCloseTo(20, -1);
  expect([has("key 0"), has("key 399")]).toEqual([false, true]);
  disk.free = 0;
  tendAll();
  expect(size()).toMatchObject({ entries: 0, isShort: true });
  expect(put({ late: 1000 })).toBe(0);
  expect(taken(directory)).toBeLessThan(MiB);
});

test.each<[string, Invalidation]>([
  ["everything", { all: true }],
  ["an endpoint", { endpoint: "e" }],
  ["a group", { groups: ["g/1"] }],
])("what was invalidated before 100,000 others does not come back: %s", (_, invalidation) => {
  const { put, has, invalidate } = open();
  const others = (round: number, count: number) =>
    invalidate({ groups: Array.from({ length: count }, (__, i) => `${round}/${i}`) });
  put({ first: 1 });
  others(1, 60_000);
  put({ second: 1 });
  invalidate(invalidation);
  put({ third: 1 }, ["h", "@e", "*"]);
  expect(["first", "second", "third"].map(has)).toEqual([false, false, true]);
  // Now the older half counts for everything before it.
  for (let i = 2; i < 7; i++) others(i, 10_000);
  expect(["first", "second", "third"].map(has)).toEqual([false, false, true]);
});

/** All that a file holds when it is opened again, or why it cannot be used. */
const reopened = (directory: string, keys: readonly string[]) => {
  try {
    const { has, close } = open({ directory });
    const found = keys.filter(has);
    close();
    return found;
  } catch (error) {
    if (!isDamaged(error) && !(error instanceof Unusable)) throw error;
    return (error as Error).message;
  }
};

/** A file as a kill leaves it: its log has a part of the entries, and the last invalidation. */
const written = () => {
  const { put, invalidate, directory } = open();
  const keys = Array.from({ length: 130 }, (_, i) => `key ${i}`);
  for (const key of keys) put({ [key]: 70_000 });
  invalidate({ keys: keys.slice(100) });
  put({ last: 10 });
  const copy = () => {
    const to = temporaryFolder();
    cpSync(directory, to, { recursive: true });
    return to;
  };
  return { keys: [...keys, "last"], left: [...keys.slice(0, 100), "last"], copy };
};

test("a file that is cut anywhere brings back nothing that a write took out", () => {
  const { keys, left, copy } = written();
  expect(reopened(copy(), keys)).toEqual(left);
  const results = new Set<string>();
  for (const part of ["", "-wal", "-shm"])
    for (let i = 0; i < casesOf(10); i++) {
      const directory = copy();
      const file = entryFileIn(directory) + part;
      if (!existsSync(file)) continue;
      truncateSync(file, Math.floor(Math.random() * statSync(file).size));
      const found = reopened(directory, keys);
      results.add(typeof found === "string" ? found : "read");
      expect(left).toEqual(expect.arrayContaining(typeof found === "string" ? [] : found));
    }
  expect(results.size).toBeGreaterThan(1);
});

test.each<[string, (file: string) => void, RegExp]>([
  ["its marks are missing", (file) => rmSync(`${file}.marks`), /^its marks are missing$/],
  ["its marks are cut", (file) => truncateSync(`${file}.marks`, 20), /^its marks are cut off$/],
  ["its log is missing", (file) => rmSync(`${file}-wal`), /^its end is cut off$/],
  ["it is not a database", (file) => writeFileSync(file, "x".repeat(9000)), /malformed|not a database/],
  ["another version wrote it", (file) => setVersion(file, 99), /^another version's format \(99\)$/],
])("a file is not used where %s, and an empty file takes its place", (_, change, why) => {
  const { keys, copy } = written();
  const directory = copy();
  change(entryFileIn(directory));
  expect(reopened(directory, keys)).toMatch(why);
  takeAway(directory, true);
  expect(existsSync(`${entryFileIn(directory)}.set-aside`)).toBe(true);
  const { put, has, close } = open({ directory });
  put({ again: 1 });
  expect(has("again")).toBe(true);
  close();
  expect(reopened(directory, [...keys, "again"])).toEqual(["again"]);
});

test("a clock that was set back makes the file unusable, now and at a start", () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const { put, has, directory, close, invalidate } = open();
  put({ a: 1 });
  vi.setSystemTime(Date.now() - 50_000);
  expect(has("a")).toBe(true);
  vi.setSystemTime(Date.now() - 50_000);
  invalidate({ groups: ["other"] });
  expect(() => has("a")).toThrow("the clock was set back");
  expect(() => put({ b: 1 })).toThrow("the clock was set back");
  close();
  expect(reopened(directory, [])).toBe("the clock was set back");
});
