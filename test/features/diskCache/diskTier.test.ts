import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { DiskTier } from "../../../features/diskCache/diskTier.ts";
import { type Entry, entryOf } from "../../../src/gateway/cache/entry.ts";
import { freshnessOf } from "../../../src/gateway/cache/policy.ts";
import type { Invalidation } from "../../../src/gateway/cache/secondTier.ts";
import { openStore } from "../../../src/gateway/cache/store.ts";
import { TieredEntries } from "../../../src/gateway/cache/tieredEntries.ts";
import { entryFileIn } from "../../../features/diskCache/entryFile.ts";
import { until } from "../../support/waiting.ts";
import { casesOf } from "../../support/cases.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { MiB, setVersion } from "./support.ts";

/** A tier on a disk, and what it has reported and counted. Its disk is never late. */
const tierOn = (directory = temporaryFolder()) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const reported: string[] = [];
  const counted: Record<string, number> = {};
  const tier = new DiskTier({
    directory,
    bytes: 64 * MiB,
    onRestored: () => reported.push("restored"),
    onEmptied: (why) => reported.push(`emptied: ${why}`),
    report: (isUp, why) => reported.push(isUp ? "up" : `lost: ${why}`),
    count: (call, result) => (counted[`${call} ${result}`] = (counted[`${call} ${result}`] ?? 0) + 1),
  });
  onTestFinished(async () => {
    await tier.close();
    vi.useRealTimers();
  });
  return { tier, reported, counted, directory };
};

/** Entries with a memory of so many bytes before this tier. */
const entriesOver = (tier: DiskTier, bytes: number) =>
  new TieredEntries({
    store: openStore({ bytes, entryBytes: MiB }),
    openTier: () => tier,
    timeout: 60_000,
    onInvalidated: () => undefined,
    onError: (error) => {
      throw error;
    },
    now: () => performance.now(),
  });

const [minute, hour] = [60_000, 3_600_000];
const longest = { fresh: 24 * hour, staleWhileRevalidate: 24 * hour, staleIfError: 7 * 24 * hour };
const lifetimes = fc.record({
  fresh: fc.constantFrom(minute, 24 * hour),
  staleWhileRevalidate: fc.constantFrom(0, hour),
  staleIfError: fc.constantFrom(0, 7 * 24 * hour),
});
const groups = fc.constantFrom(["a", "a/1"], ["as"], ["as", "b"], ["as", "a/1"]);
const entry = fc.record({
  lifetimes,
  groups,
  status: fc.constantFrom(200, 200, 404),
  endpoint: fc.constantFrom("e", "f"),
});
const named = fc.uniqueArray(fc.constantFrom("a/1", "as", "b"), { minLength: 1 });
/** All that writes, purges and refused refreshes send. */
const invalidation: fc.Arbitrary<Invalidation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ groups: named, lists: fc.constantFrom(["as"], []) }) },
  { weight: 3, arbitrary: fc.record({ groups: named, soft: fc.constant(true), hold: fc.constantFrom(0, 1) }) },
  fc.record({ endpoint: fc.constantFrom("e", "f"), soft: fc.boolean() }),
  fc.record({ all: fc.constant(true as const), soft: fc.boolean() }),
  fc.record({ keys: fc.subarray(["0", "1", "2"]) }),
);
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ put: entry, key: fc.constantFrom("0", "1", "2") }) },
  { weight: 3, arbitrary: fc.record({ invalidation }) },
);

const request = (key: string) => ({
  cacheKey: { key, endpoint: "e", personal: false, lifetimesOf: () => longest },
  owner: undefined,
  wanted: {},
});

test("an invalidation makes the same of an entry on the disk as in memory", async () => {
  const { tier } = tierOn();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      const run = `${runs++} `;
      await tier.invalidate({ all: true });
      const memory = entriesOver(tier, 10 * MiB);
      for (const each of steps)
        if ("put" in each) {
          const { status, ...about } = each.put;
          const stored = entryOf({ status, body: "x" }, { ...about, storedAt: performance.now() });
          memory.put(run + each.key, stored, memory.mark());
        } else {
          const { keys = [] } = each.invalidation;
          await memory.invalidate({ ...each.invalidation, keys: keys.map((key) => run + key) });
        }
      await tier.invalidate({ groups: ["of nothing"] });
      for (const key of ["0", "1", "2"]) {
        const stayed = memory.lookUp(request(run + key), performance.now())?.entry;
        const found = (await entriesOver(tier, 10 * MiB).lookUpInTier(request(run + key)))?.entry;
        const uses = (of: Entry | undefined) =>
          [0, 30 * minute, 2 * hour, 20 * 24 * hour].map((later) =>
            of === undefined ? "not" : freshnessOf(of, performance.now() + later, {}),
          );
        expect(uses(found)).toEqual(uses(stayed));
      }
    }),
    { numRuns: casesOf(300) },
  );
});

test("an entry comes back with its bytes, their coding, headers and lifetimes", async () => {
  const { tier, counted } = tierOn();
  const text = "long ".repeat(1000);
  const stored = entryOf(
    { status: 200, body: text, type: "text/plain", headers: { "x-a": "b" } },
    { endpoint: "e", groups: ["a", "a/1"], lifetimes: longest, storedAt: performance.now() },
  );
  const coded = { ...stored, coded: { br: brotliCompressSync(text) } };
  tier.set("plain", stored);
  tier.set("coded", coded);
  await tier.invalidate({ groups: ["of nothing"] });
  for (const [key, before] of Object.entries({ plain: stored, coded })) {
    const { storedAt, freshUntil, ...found } = (await tier.get(key)) as Entry;
    const { storedAt: _, freshUntil: __, ...expected } = before;
    expect(found).toEqual(expected);
    expect([storedAt - before.storedAt, freshUntil - before.freshUntil].every((ms) => Math.abs(ms) < 2)).toBe(true);
  }
  expect(await tier.get("other")).toBe(undefined);
  expect(counted).toEqual({ "put stored": 2, "get hit": 2, "get miss": 1, "invalidate done": 1 });
});

const plain = (body: string) =>
  entryOf({ status: 200, body }, { endpoint: "e", groups: [], lifetimes: longest, storedAt: performance.now() });

test("an entry that is still to be written is found in place of an older one", async () => {
  const { tier } = tierOn();
  tier.set("a", plain("old"));
  await tier.invalidate({ groups: ["of nothing"] });
  tier.set("a", plain("new"));
  expect((await tier.get("a"))?.body.toString()).toBe("new");
});

test("entries that the disk does not take in time are dropped and counted", async () => {
  const { tier, counted } = tierOn();
  const body = "x".repeat(300_000);
  const stored = plain(body);
  // The thread's answers come in a later turn.
  for (let i = 0; i < 80; i++) tier.set(`${i}`, stored);
  const dropped = counted["put dropped"];
  // 16 MiB wait at most.
  expect(dropped).toBe(80 - 57);
  await tier.invalidate({ groups: ["of nothing"] });
  expect(counted).toMatchObject({ "put stored": 57, "put dropped": dropped });
  expect([tier.mayHave("0"), tier.mayHave("79")]).toEqual([true, false]);
  for (let i = 0; i < 12; i++) tier.set(`again ${i}`, stored);
  await tier.invalidate({ groups: ["of nothing"] });
  expect(counted).toMatchObject({ "put stored": 69, "put dropped": dropped });
});

test("the file is begun anew after more invalidations than can wait for it", async () => {
  const { tier, reported } = tierOn();
  tier.set("a", plain("x"));
  await tier.invalidate({ groups: ["of nothing"] });
  const told = await Promise.all(Array.from({ length: 2010 }, (_, i) => tier.invalidate({ groups: [`${i}`] })));
  expect(told.filter((isTold) => !isTold)).toHaveLength(10);
  expect(await tier.get("a")).toBe(undefined);
  await until(() => reported.at(-1) === "up");
  expect(reported).toContain("emptied: it has missed what a write has changed");
  expect(await tier.get("a")).toBe(undefined);
});

test.each<[string, (file: string) => void, RegExp]>([
  ["malformed", (file) => writeFileSync(file, "x".repeat(9000)), /malformed|not a database/],
  ["of another version", (file) => setVersion(file, 99), /another version/],
  ["without its marks", (file) => rmSync(`${file}.marks`), /its marks are missing/],
])("a file that is %s is said to be emptied, and the tier works", async (_, change, why) => {
  const { tier: first, directory } = tierOn();
  const stored = plain("x");
  first.set("a", stored);
  await first.close();
  change(entryFileIn(directory));
  const { tier, reported } = tierOn(directory);
  expect(await tier.get("a")).toBe(undefined);
  expect(reported.filter((report) => report !== "up")).toEqual([expect.stringMatching(why)]);
  tier.set("b", stored);
  await tier.close();
  const last = tierOn(directory);
  expect((await last.tier.get("b"))?.isDoubtful).toBe(true);
  expect(last.reported).toContain("restored");
});

test("a directory that cannot be used costs a report, and nothing else", async () => {
  const directory = temporaryFolder();
  mkdirSync(join(entryFileIn(directory), "full"), { recursive: true });
  const { tier, reported, counted } = tierOn(directory);
  const stored = plain("x");
  expect(await tier.get("a")).toBe(undefined);
  tier.set("a", stored);
  expect(await tier.invalidate({ groups: ["a"] })).toBe(false);
  expect(await tier.get("a")).toBe(undefined);
  expect(reported.at(-1)).toMatch(/^lost: /);
  expect(counted).toEqual({ "get failed": 1, "put failed": 1, "invalidate late": 1 });
  rmSync(entryFileIn(directory), { recursive: true });
  await until(() => reported.at(-1) === "up");
  expect(reported.filter((report) => report.startsWith("emptied"))).toEqual([
    "emptied: it has missed what a write has changed",
  ]);
  tier.set("a", stored);
  expect(await tier.invalidate({ groups: ["b"] })).toBe(true);
  expect(await tier.get("a")).toMatchObject({ body: Buffer.from("x") });
});
