import { describe, expect, test } from "vitest";
import { type Entry, entryOf } from "../../src/cache/entry.ts";
import { lifetimesBy } from "../../src/cache/policy.ts";
import { openTieredEntries } from "../../src/cache/tieredEntries.ts";
import { untagged } from "../../src/cache/reply.ts";
import type { Invalidation, SharedTier } from "../../src/cache/sharedTier.ts";
import { openStore } from "../../src/cache/store.ts";

const lifetimes = { fresh: 1000, staleWhileRevalidate: 1000, staleIfError: 1000 };
const about = { endpoint: "e", groups: ["g/1", "g"], lifetimes, storedAt: 0 };
const asking = {
  cacheKey: { key: "k", endpoint: "e", lifetimesOf: lifetimesBy({ fresh: "1s" }), personal: false },
  owner: undefined,
  wanted: {},
};

const openWith = (entry?: Entry) => {
  const tier: SharedTier = {
    trusted: () => true,
    mark: () => "a",
    get: () => Promise.resolve(entry),
    set: () => undefined,
    invalidate: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
  const store = openStore({ bytes: 100_000, entryBytes: 10_000 }, () => 1);
  const settings = {
    store,
    onInvalidation: () => undefined,
    onInvalidated: () => undefined,
    onError: () => undefined,
    now: () => 1,
  };
  return { store, entries: openTieredEntries({ ...settings, openTier: entry && (() => tier) }) };
};
const one = (different: Partial<Entry> = {}) =>
  entryOf(untagged({ status: 200, body: "x" }), { ...about, lifetimes: { ...lifetimes }, ...different });

test("an entry with longer lifetimes of another gateway is served no longer than here", async () => {
  const { entries } = openWith(one({ lifetimes: { fresh: 5000, staleWhileRevalidate: 9000, staleIfError: 9000 } }));
  const found = await entries.lookUpShared(asking);
  expect(found?.entry).toMatchObject({
    freshUntil: 1000,
    lifetimes: { fresh: 1000, staleWhileRevalidate: 0, staleIfError: 0 },
  });
});

describe("after an unconfirmed write", () => {
  const lost = { groups: ["g/1"], soft: true, hold: 10 };

  test("an entry only stands in where legacy fails", async () => {
    const { entries, store } = openWith();
    store.set("k", one());
    expect(entries.lookUp(asking, 1)?.freshness).toBe("fresh");
    await entries.invalidate(lost);
    expect(entries.lookUp(asking, 1)?.freshness).toBe("ifError");
  });

  test("an entry that may never be served stale is gone", async () => {
    const { entries, store } = openWith();
    store.set("k", one({ lifetimes: { fresh: 1000, staleWhileRevalidate: 1000, staleIfError: 0 } }));
    await entries.invalidate(lost);
    expect(entries.lookUp(asking, 1)).toBeUndefined();
  });

  test("an answer that is fetched meanwhile is not stored", async () => {
    const { entries } = openWith();
    await entries.invalidate(lost);
    expect(entries.put("k", one(), entries.mark())).toBe(false);
  });
});

test.each<[string, Invalidation, boolean]>([
  ["softly", { groups: ["g/1"], soft: true }, false],
  ["hard", { groups: ["g/1"] }, false],
  ["everything, softly", { all: true, soft: true }, false],
  ["something else", { groups: ["h"] }, true],
  ["something else, softly", { groups: ["h"], soft: true }, true],
])("an entry of the shared tier invalidated on its way (%s): stored %s", async (_, drop, isKept) => {
  let arrive: (entry: Entry) => void = () => undefined;
  const tier: SharedTier = {
    trusted: () => true,
    mark: () => "a",
    get: () => new Promise((resolve) => (arrive = resolve)),
    set: () => undefined,
    invalidate: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
  const entries = openTieredEntries({
    store: openStore({ bytes: 100_000, entryBytes: 10_000 }, () => 1),
    openTier: () => tier,
    onInvalidation: () => undefined,
    onInvalidated: () => undefined,
    onError: () => undefined,
    now: () => 1,
  });
  const found = entries.lookUpShared(asking);
  await entries.invalidate(drop);
  arrive(entryOf(untagged({ status: 200, body: "x" }), about));
  expect([(await found) !== undefined, entries.lookUp(asking, 1) !== undefined]).toEqual([isKept, isKept]);
});

test.each([
  ["newer", 1, "x"],
  ["older", -1, undefined],
])("an entry of the shared tier that is %s than the one in memory", async (_, storedAt, expected) => {
  const { entries, store } = openWith(one({ storedAt }));
  store.set("k", one());
  expect((await entries.lookUpShared(asking))?.entry.body.toString()).toBe(expected);
  expect(entries.lookUp(asking, 1)?.entry.storedAt).toBe(Math.max(0, storedAt));
});
