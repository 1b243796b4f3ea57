import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ownerKey, cacheKeyOf, readDirectives } from "../../src/cache/cacheRequest.ts";
import { isDuration, milliseconds, type Entry, entryOf } from "../../src/cache/entry.ts";
import { backOff, freshnessOf } from "../../src/cache/policy.ts";
import { acceptedCodings } from "../../src/cache/compression.ts";
import { HIT, replyWith, untagged } from "../../src/cache/reply.ts";
import { openStore, sizeOf } from "../../src/cache/store.ts";

const windows = { fresh: 100, staleWhileRevalidate: 200, staleIfError: 400 };
const entry = (about: Partial<Entry> = {}, body = "x"): Entry =>
  entryOf(untagged({ status: 200, body }), {
    endpoint: "e",
    groups: ["g/1", "g"],
    lifetimes: windows,
    storedAt: 0,
    ...about,
  });

test.each([
  ["90s", 90_000],
  ["10m", 600_000],
  ["24h", 86_400_000],
  ["7d", 604_800_000],
] as const)("%s is %i ms", (duration, ms) => expect(milliseconds(duration)).toBe(ms));

test("what is no duration is none", () => {
  for (const text of ["", "1", "1w", "-1s", "1.5h", " 1s", "1s ", "1234567s", "s"])
    expect([text, isDuration(text)]).toEqual([text, false]);
});

describe("what an entry is good for", () => {
  test.each<[number, string]>([
    [0, "fresh"],
    [99, "fresh"],
    [100, "stale"],
    [299, "stale"],
    [300, "ifError"],
    [499, "ifError"],
    [500, "not"],
  ])("%i ms after it was stored: %s", (now, verdict) => expect(freshnessOf(entry(), now, {})).toBe(verdict));

  test("the time to try again doubles up to a minute", () => {
    expect([1, 2, 3, 6, 7, 100].map(backOff)).toEqual([1000, 2000, 4000, 32_000, 60_000, 60_000]);
  });
});

test("directives: whatever is sent is read or passed over, never an error", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (cacheControl, pragma) => {
      const { maxAge = 0, minFresh = 0, maxStale = 0 } = readDirectives(cacheControl, pragma);
      return [maxAge, minFresh, maxStale].every((time) => time >= 0);
    }),
  );
  expect(readDirectives('MAX-AGE="5", Only-If-Cached,max-stale')).toEqual({
    maxAge: 5000,
    onlyIfCached: true,
    maxStale: Infinity,
  });
  expect(readDirectives("max-age=-1, min-fresh=1e9, max-stale=x")).toEqual({});
});

test("codings: whatever is sent, what comes is one of ours and was not refused", () => {
  fc.assert(
    fc.property(fc.string(), (header) => acceptedCodings(header).every((coding) => ["br", "gzip"].includes(coding))),
  );
  expect(acceptedCodings("br;q=0, *")).toEqual(["gzip"]);
  expect(acceptedCodings("br;q=x, gzip;q=0.1")).toEqual(["gzip"]);
});

test("keys of other inputs, backends or owners differ, wherever their parts end", () => {
  const parts = fc.tuple(
    fc.string(),
    fc.string(),
    fc.dictionary(
      fc.constantFrom("a", "b"),
      fc.oneof(fc.string(), fc.integer(), fc.array(fc.integer()), fc.constant(undefined)),
    ),
  );
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      const same =
        JSON.stringify([...one.slice(0, 2), ...Object.values(one[2])]) ===
        JSON.stringify([...other.slice(0, 2), ...Object.values(other[2])]);
      expect(cacheKeyOf(...one) === cacheKeyOf(...other)).toBe(same);
      expect(ownerKey(cacheKeyOf(...one), "a")).not.toBe(cacheKeyOf(...one));
    }),
  );
  expect(cacheKeyOf("e", "b", { a: "x", c: "yz" })).not.toBe(cacheKeyOf("e", "b", { a: "xy", c: "z" }));
});

describe("the store", () => {
  test("stays within its bytes, the least recently used go first, and says so", () => {
    const store = openStore({ bytes: 20_000, entryBytes: 5000 }, () => 1);
    const one = sizeOf("k0", entry({}, "x".repeat(1000)));
    for (let i = 0; i < 50; i++) {
      store.set(`k${i}`, entry({}, "x".repeat(1000)));
      store.get("k0");
    }
    const { bytes, entries, evicted } = store.size();
    expect(bytes).toBeLessThanOrEqual(20_000);
    expect(entries).toBe(Math.floor(20_000 / one));
    expect(evicted).toBe(50 - entries);
    expect([store.get("k0") !== undefined, store.get("k1")]).toEqual([true, undefined]);
  });

  test("counts every coding, group and key", () => {
    const small = sizeOf("k", entry());
    expect(sizeOf("k".repeat(11), entry())).toBe(small + 20);
    expect(sizeOf("k", { ...entry(), coded: { br: Buffer.alloc(70), gzip: Buffer.alloc(30) } })).toBe(small + 100);
    expect(sizeOf("k", entry({ groups: [] }))).toBeLessThan(small - 300);
    expect(sizeOf("k", entry({ owner: "o" }))).toBeGreaterThan(small);
  });

  test("an entry that is too large is not stored, and the one it replaces is deleted", () => {
    const store = openStore({ bytes: 20_000, entryBytes: 5000 }, () => 1);
    expect(store.set("k", entry())).toBe(true);
    expect(store.set("k", entry({}, "x".repeat(6000)))).toBe(false);
    expect(store.get("k")).toBeUndefined();
  });

  test("finds by group and by owner, and forgets the groups of what is gone or over", () => {
    let now = 1;
    const store = openStore({ bytes: 100_000, entryBytes: 5000 }, () => now);
    store.set("a", entry());
    store.set("b", entry({ groups: ["g/2", "g"] }));
    store.set("c", entry({ owner: "someone" }));
    const keys = (...groups: string[]) => store.inGroups(groups).map(([key]) => key);
    expect([keys("g"), keys("g/1"), keys("g/2", "g/1"), keys("someone"), keys("x")]).toEqual([
      ["a", "b", "c"],
      ["a", "c"],
      ["b", "a", "c"],
      ["c"],
      [],
    ]);
    store.set("a", entry({ groups: ["h"] }));
    store.delete("b");
    expect([keys("g"), keys("h")]).toEqual([["c"], ["a"]]);
    now = 501;
    expect([store.get("a"), store.get("c"), store.size().entries]).toEqual([undefined, undefined, 0]);
    expect([keys("g"), keys("h"), keys("someone")]).toEqual([[], [], []]);
  });
});

test("a hit's headers are made once a second, for each kind of asker", () => {
  const one = entry();
  const cors: string[] = [];
  const asker = { method: "GET", acceptEncoding: undefined, ifNoneMatch: undefined, keyed: false, cors };
  const headers = (now: number, about = {}) =>
    replyWith({ representation: one, entry: one, how: HIT }, { ...asker, ...about }, now).headers;
  expect(headers(0)).toBe(headers(999));
  expect(headers(1000)).not.toEqual(headers(0));
  expect(headers(0)).toContain("public, max-age=0, stale-while-revalidate=0, stale-if-error=0");
  expect(headers(0, { keyed: true })).toContain("private, no-cache");
  expect(headers(0, { cors: ["Vary", "Origin"] })).toContain("Origin");
  expect(headers(0)).not.toContain("Origin");
});
