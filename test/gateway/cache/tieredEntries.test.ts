import { expect, test } from "vitest";
import { entryKey } from "../../../src/gateway/cache/cacheRequest.ts";
import { type Entry, entryOf } from "../../../src/gateway/cache/entry.ts";
import { lifetimesBy } from "../../../src/gateway/cache/policy.ts";
import type { Invalidation } from "../../../src/gateway/cache/secondTier.ts";
import { openStore } from "../../../src/gateway/cache/store.ts";
import { TieredEntries } from "../../../src/gateway/cache/tieredEntries.ts";
import { tierWith } from "./support.ts";

const lifetimes = { fresh: 1000, staleWhileRevalidate: 1000, staleIfError: 1000 };
const entryFrom = (storedAt: number) =>
  entryOf({ status: 200, body: "x" }, { endpoint: "e", groups: ["g/1", "g"], lifetimes, storedAt });
const request = {
  cacheKey: { key: "k", endpoint: "e", lifetimesOf: lifetimesBy({ fresh: "1s" }), personal: false },
  owner: undefined,
  wanted: {},
};

/** Entries over a second tier that has an entry, now or later. */
const openOver = (get: () => Promise<Entry>, isInStep = true) => {
  const store = openStore({ bytes: 100_000, entryBytes: 10_000 }, () => 1);
  const ignore = () => undefined;
  const hooks = { onInvalidation: ignore, onInvalidated: ignore, onError: ignore };
  return {
    store,
    entries: new TieredEntries({
      store,
      openTier: () => tierWith({ get, trusted: () => isInStep }),
      timeout: 60_000,
      ...hooks,
      now: () => 1,
    }),
  };
};

test.each<[string, Invalidation, boolean]>([
  ["softly", { groups: ["g/1"], soft: true }, false],
  ["by its key", { keys: ["k"] }, false],
  ["hard", { groups: ["g/1"] }, false],
  ["everything, softly", { all: true, soft: true }, false],
  ["something else", { groups: ["h"] }, true],
  ["something else, softly", { groups: ["h"], soft: true }, true],
])("an entry of the second tier invalidated on its way (%s): stored %s", async (_, invalidation, isStored) => {
  let arrive: (entry: Entry) => void = () => undefined;
  const { entries } = openOver(() => new Promise((resolve) => (arrive = resolve)));
  const found = entries.lookUpInTier(request);
  await entries.invalidate(invalidation);
  arrive(entryFrom(0));
  expect([(await found) !== undefined, entries.lookUp(request, 1) !== undefined]).toEqual([isStored, isStored]);
});

test.each([
  ["newer", 2000, "x"],
  ["no newer", 10, undefined],
  ["older", -2000, undefined],
])("an entry of the second tier that is %s than the one in memory", async (_, storedAt, expected) => {
  const { entries, store } = openOver(async () => entryFrom(storedAt));
  store.set("k", entryFrom(0));
  expect((await entries.lookUpInTier(request))?.entry.body.toString()).toBe(expected);
  expect(entries.lookUp(request, 1)?.entry.storedAt).toBe(expected === undefined ? 0 : storedAt);
});

test("an older entry of the second tier is served in place of a doubtful one", async () => {
  const { entries, store } = openOver(async () => entryFrom(-500));
  store.set("k", { ...entryFrom(0), isDoubtful: true });
  expect(entries.lookUp(request, 1)?.freshness).toBe("ifError");
  expect((await entries.lookUpInTier(request))?.freshness).toBe("fresh");
  expect(entries.lookUp(request, 1)?.entry.storedAt).toBe(-500);
});

test("another gateway's entry is served by the shorter of both gateways' lifetimes", async () => {
  const theirs = { fresh: 5000, staleWhileRevalidate: 500, staleIfError: 9000 };
  const { entries } = openOver(async () => ({ ...entryFrom(0), lifetimes: theirs, freshUntil: 5000 }));
  const lifetimesOf = lifetimesBy({ fresh: "2s", staleWhileRevalidate: "1s", staleIfError: "3s" });
  const found = await entries.lookUpInTier({ ...request, cacheKey: { ...request.cacheKey, lifetimesOf } });
  const shorter = { fresh: 2000, staleWhileRevalidate: 500, staleIfError: 3000 };
  expect(found?.entry).toMatchObject({ lifetimes: shorter, freshUntil: 2000 });
});

test("without every invalidation, public entries are for outages, keys' are not used", () => {
  const { entries, store } = openOver(() => Promise.reject(new Error("asked")), false);
  store.set("k", entryFrom(0));
  expect(entries.lookUp(request, 1)?.freshness).toBe("ifError");
  store.delete("k");
  const ofKey = { ...request, owner: "someone" };
  store.set(entryKey(ofKey, "someone"), { ...entryFrom(0), owner: "someone" });
  expect(entries.lookUp(ofKey, 1)?.freshness).toBe("not");
});
