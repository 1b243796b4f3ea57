import { expect, test } from "vitest";
import type { Directives } from "../../../src/gateway/cache/cacheRequest.ts";
import { type Entry, entryOf } from "../../../src/gateway/cache/entry.ts";
import { isDuration } from "../../../src/catalogue/endpoint/lifetimes.ts";
import { freshnessOf, makeStale, withinLifetimes } from "../../../src/gateway/cache/policy.ts";

const lifetimes = { fresh: 10, staleWhileRevalidate: 20, staleIfError: 40 };
const entry = (about: Partial<Entry> = {}): Entry =>
  entryOf({ status: 200, body: "x" }, { endpoint: "e", groups: [], lifetimes, storedAt: 0, ...about });

test("a malformed text is no duration", () => {
  const others = ["", "1", "1w", "-1s", "1.5h", " 1s", "1s ", "1234567s", "s"];
  expect(others.filter(isDuration)).toEqual([]);
});

const owned = entry({ owner: "a" });
const moments = [0, 9, 10, 29, 30, 49, 50, 1009, 1010];

test.each<[string, Entry, Directives, boolean, string]>([
  ["by its lifetimes", entry(), {}, true, "fresh fresh stale stale ifError ifError not not not"],
  ["for the gateway's own requests", entry(), { onlyFresh: true }, true, "fresh fresh not not not not not not not"],
  ["where it has an owner", owned, {}, true, "fresh fresh not not not not not not not"],
  ["where a write may be missed", entry(), {}, false, "ifError ifError ifError ifError ifError ifError not not not"],
  [
    "from before a gap",
    { ...entry(), isDoubtful: true },
    {},
    true,
    "ifError ifError ifError ifError ifError ifError not not not",
  ],
  ["where it may, and has an owner", owned, {}, false, "not not not not not not not not not"],
])("how long an entry may be used %s", (_, one, wanted, isInStep, expected) => {
  expect(moments.map((now) => freshnessOf(one, now, wanted, isInStep)).join(" ")).toBe(expected);
});

test("an entry is stale after a write, and for outages only after an unconfirmed write", () => {
  const after = (staleWhileRevalidate: number, staleIfError: number, isUnconfirmed: boolean) => {
    const aged = entry({ lifetimes: { fresh: 10, staleWhileRevalidate, staleIfError } });
    return makeStale(aged, 5, isUnconfirmed) ? freshnessOf(aged, 5, {}) : "gone";
  };
  expect([after(20, 40, false), after(20, 40, true)]).toEqual(["stale", "ifError"]);
  expect([after(20, 0, false), after(20, 0, true)]).toEqual(["stale", "gone"]);
  expect([after(0, 40, false), after(0, 40, true)]).toEqual(["ifError", "ifError"]);
  expect([after(0, 0, false), after(0, 0, true)]).toEqual(["gone", "gone"]);
});

test("another gateway's entry is served by the shorter of both gateways' lifetimes", () => {
  const theirs = entry({ lifetimes: { fresh: 50, staleWhileRevalidate: 10, staleIfError: 90 } });
  const least = { fresh: 10, staleWhileRevalidate: 10, staleIfError: 40 };
  expect(withinLifetimes(theirs, lifetimes)).toMatchObject({ freshUntil: 10, lifetimes: least });
  const shorter = { fresh: 5, staleWhileRevalidate: 15, staleIfError: 20 };
  expect(withinLifetimes(entry({ lifetimes: shorter }), lifetimes)).toMatchObject({
    freshUntil: 5,
    lifetimes: shorter,
  });
  expect(withinLifetimes({ ...entry(), freshUntil: 3 }, lifetimes)).toMatchObject({ freshUntil: 3 });
  expect(withinLifetimes(entry(), undefined)).toBeUndefined();
});
