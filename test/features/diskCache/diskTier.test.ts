import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { DiskTier } from "../../../features/diskCache/diskTier.ts";
import { type Entry, entryOf } from "../../../src/gateway/cache/entry.ts";
import { freshnessOf } from "../../../src/gateway/cache/policy.ts";
import type { Invalidation } from "../../../src/gateway/cache/secondTier.ts";
import { openStore } from "../../../src/gateway/cache/store.ts";
import { TieredEntries } from "../../../src/gateway/cache/tieredEntries.ts";
import { casesOf } from "../../support/cases.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { MiB } from "./support.ts";

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
const groups = fc.constantFrom(["a", "a/1"], ["a", "a/2"], ["as"], ["as", "b"], ["as", "a/1"]);
const entry = fc.record({
  lifetimes,
  groups,
  status: fc.constantFrom(200, 200, 404),
  endpoint: fc.constantFrom("e", "f"),
});
const named = fc.uniqueArray(fc.constantFrom("a", "a/1", "a/2", "as", "b"), { minLength: 1 });
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

test("an entry from the disk may be used as if it had stayed in memory, whatever was invalidated", async () => {
  const { tier } = tierOn();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
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
          expect(await memory.invalidate({ ...each.invalidation, keys: keys.map((key) => run + key) })).toBe(true);
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
    { numRuns: casesOf(100) },
  );
});
