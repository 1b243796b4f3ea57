import { expect, test } from "vitest";
import { type Cache, openCache } from "../../src/cache/cache.ts";
import { openStore } from "../../src/cache/store.ts";
import { lifetimesBy } from "../../src/cache/lifetimes.ts";

const MIB = 1024 ** 2;
const windows = lifetimesBy({ fresh: "1m", stale: "1m", staleIfError: "1m" });

const cacheOf = (entryBytes: number) =>
  openCache({
    store: openStore({ bytes: 512 * MIB, entryBytes }),
    longest: 1000,
    count: () => undefined,
    onError: () => undefined,
  });

/** The codings of an answer of so many bytes, and whether it was stored. */
const answerIn = async (cache: Cache, key: string, bytes: number, noStore = false) => {
  const question = { key, endpoint: "getDataset", lifetimesOf: windows, personal: false };
  const wanted = noStore ? { noStore } : {};
  const answered = await cache.answer(
    { question, owner: undefined, wanted },
    async () => ({ answer: { status: 200, body: Buffer.alloc(bytes, "x"), tag: key }, groups: [] }),
    async () => undefined,
  );
  return [answered.how.stored, "entry" in answered ? Object.keys(answered.entry.coded) : undefined];
};

test("what cannot be stored is not compressed", async () => {
  const cache = cacheOf(MIB);
  expect(await answerIn(cache, "small", MIB / 2)).toEqual([true, ["br", "gzip"]]);
  expect(await answerIn(cache, "large", 2 * MIB)).toEqual([false, []]);
  expect(await answerIn(cache, "unwanted", MIB / 2, true)).toEqual([false, []]);
});

test("an answer that has become too large takes the place of none", async () => {
  const cache = cacheOf(MIB);
  await answerIn(cache, "a", MIB / 2);
  expect(cache.size().entries).toBe(1);
  const question = { key: "a", endpoint: "getDataset", lifetimesOf: windows, personal: false };
  await cache.answer(
    { question, owner: undefined, wanted: { noCache: true } },
    async () => ({ answer: { status: 200, body: Buffer.alloc(2 * MIB, "y"), tag: "a" }, groups: [] }),
    async () => undefined,
  );
  expect(cache.size().entries).toBe(0);
});

test("at most 32 MiB are compressed at a time; more is stored without codings", async () => {
  const cache = cacheOf(64 * MIB);
  const both = await Promise.all([answerIn(cache, "a", 20 * MIB), answerIn(cache, "b", 20 * MIB)]);
  expect(both).toEqual([
    [true, ["br", "gzip"]],
    [true, []],
  ]);
  expect(await answerIn(cache, "c", 20 * MIB)).toEqual([true, ["br", "gzip"]]);
});
