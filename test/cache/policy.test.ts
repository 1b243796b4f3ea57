import { expect, test } from "vitest";
import type { Directives } from "../../src/cache/cacheRequest.ts";
import { type Entry, entryOf, isDuration } from "../../src/cache/entry.ts";
import { freshnessOf, makeStale, withinLifetimes } from "../../src/cache/policy.ts";
import { untagged } from "../../src/cache/reply.ts";

const lifetimes = { fresh: 10, staleWhileRevalidate: 20, staleIfError: 40 };
const entry = (about: Partial<Entry> = {}): Entry =>
  entryOf(untagged({ status: 200, body: "x" }), { endpoint: "e", groups: [], lifetimes, storedAt: 0, ...about });

test("what is no duration is none", () => {
  const others = ["", "1", "1w", "-1s", "1.5h", " 1s", "1s ", "1234567s", "s"];
  expect(others.filter(isDuration)).toEqual([]);
});

const turning = { ...lifetimes, mayTurnPrivate: true as const };
const patient: Directives = { maxStale: 1000 };
/** Milliseconds since the epoch. */
const moments = [0, 9, 10, 29, 30, 49, 50, 1009, 1010];

test.each<[string, Entry, Directives, boolean, string]>([
  ["is fresh, then stale", entry(), {}, true, "fresh fresh stale stale ifError ifError not not not"],
  ["a client takes stale", entry(), patient, true, "fresh fresh stale stale stale stale stale stale not"],
  [
    "may turn private",
    entry({ lifetimes: turning }),
    patient,
    true,
    "fresh fresh stale stale ifError ifError not not not",
  ],
  ["has an owner", entry({ owner: "a" }), patient, true, "fresh fresh not not not not not not not"],
  ["may have been invalidated", entry(), {}, false, "ifError ifError ifError ifError ifError ifError not not not"],
  ["has an owner, and may have been", entry({ owner: "a" }), {}, false, "not not not not not not not not not"],
  ["comes from the future", entry({ storedAt: 29 }), {}, true, "not not not fresh fresh stale stale not not"],
])("for how long an entry may be used that %s", (_, one, wanted, isInStep, expected) => {
  expect(moments.map((now) => freshnessOf(one, now, wanted, isInStep)).join(" ")).toBe(expected);
});

test("after a write an entry is stale; after an unconfirmed one it only stands in for legacy", () => {
  const after = (staleWhileRevalidate: number, staleIfError: number, isUnconfirmed: boolean) => {
    const one = entry({ lifetimes: { fresh: 10, staleWhileRevalidate, staleIfError } });
    return makeStale(one, 5, isUnconfirmed) ? freshnessOf(one, 5, {}) : "gone";
  };
  expect([after(20, 40, false), after(20, 0, false), after(0, 40, false), after(0, 0, false)]).toEqual([
    "stale",
    "stale",
    "ifError",
    "gone",
  ]);
  expect([after(20, 40, true), after(20, 0, true), after(0, 0, true)]).toEqual(["ifError", "gone", "gone"]);
});

test("another gateway's entry is served no longer than here, and no shorter than there", () => {
  const longer = withinLifetimes(
    entry({ lifetimes: { fresh: 50, staleWhileRevalidate: 10, staleIfError: 90 } }),
    lifetimes,
  );
  expect(longer).toMatchObject({
    freshUntil: 10,
    lifetimes: { fresh: 10, staleWhileRevalidate: 10, staleIfError: 40 },
  });
  expect(withinLifetimes(entry(), undefined)).toBeUndefined();
});
