import { describe, expect, test, vi } from "vitest";
import { entryOf } from "../../src/cache/entry.ts";
import { freshnessOf } from "../../src/cache/policy.ts";
import { untagged } from "../../src/cache/reply.ts";
import { alice, cachedGateway, clock, kept, markOf } from "./support.ts";

const second = 1000;
const minute = 60 * second;
const names = Object.entries(kept);
const long = JSON.stringify({
  getDataset: { fresh: "2h", staleWhileRevalidate: "7d" },
  listDatasets: { fresh: "2h", staleWhileRevalidate: "7d" },
  getSetup: { fresh: "2h", staleWhileRevalidate: "7d" },
});

describe("answers that belong to a key", () => {
  test.each([
    ["by default", {}],
    ["whatever CACHE_LIFETIMES says", { CACHE_LIFETIMES: long }],
  ])("is fresh for a minute at most, %s", async (_, environment) => {
    const { pass } = clock();
    const { legacy, ask, as } = await cachedGateway(environment);
    for (const [, path] of names) await ask(path, as(alice));
    pass(59 * second);
    legacy.version = 2;
    for (const [name, path] of names)
      expect([name, markOf((await ask(path, as(alice))).body)]).toEqual([name, "alice 1"]);
    pass(second);
    for (const [name, path] of names)
      expect([name, markOf((await ask(path, as(alice))).body)]).toEqual([name, "alice 2"]);
  });

  test("is not served when legacy fails, even to a client that takes stale answers", async () => {
    const { pass } = clock();
    const { legacy, ask, as } = await cachedGateway();
    legacy.privateTo = alice;
    for (const [, path] of names) await ask(path, as(alice));
    pass(minute);
    // The key is good all the time.
    await ask("/v1/datasets/abc", as(alice));
    legacy.mode = "down";
    for (const [name, path] of names)
      for (const wanted of [
        "max-stale",
        "max-stale=1000",
        "max-age=100, max-stale=1000",
        "max-stale, only-if-cached",
      ]) {
        const { status } = await ask(path, { ...as(alice), "Cache-Control": wanted });
        expect([name, wanted, status]).toEqual([name, wanted, expect.toBeOneOf([502, 503, 504])]);
      }
  });

  test("are not served once the clock was set back to before they came", async () => {
    clock();
    const { legacy, ask, as } = await cachedGateway();
    for (const [, path] of names) await ask(path, as(alice));
    vi.setSystemTime(Date.now() - 60 * minute);
    legacy.version = 2;
    for (const [name, path] of names)
      expect([name, markOf((await ask(path, as(alice))).body)]).toEqual([name, "alice 2"]);
  });

  test("is judged fresh or not at all", () => {
    const about = {
      endpoint: "e",
      groups: [],
      lifetimes: { fresh: 10, staleWhileRevalidate: 20, staleIfError: 30 },
      storedAt: 0,
    };
    const own = entryOf(untagged({ status: 200, body: "x" }), { ...about, owner: "someone" });
    expect([9, 10, 25].map((now) => freshnessOf(own, now, { maxStale: Infinity }))).toEqual(["fresh", "not", "not"]);
  });
});

describe("answers that may turn private", () => {
  const mayTurn = ["getDataset", "listDatasets", "getStudy"] as const;

  test.each([
    ["by default", {}],
    ["whatever CACHE_LIFETIMES says", { CACHE_LIFETIMES: long }],
  ])("is served stale while revalidated for an hour at most, %s", async (_, environment) => {
    const { ask } = await cachedGateway(environment);
    for (const name of mayTurn) {
      const { headers } = await ask(kept[name]);
      expect([name, headers.get("cache-control")]).toEqual([
        name,
        expect.stringMatching(/^public, max-age=\d+, stale-while-revalidate=3600, stale-if-error=\d+$/),
      ]);
    }
    expect((await ask(kept.getSetup)).headers.get("cache-control")).toContain("stale-while-revalidate=604800");
  });

  test("past that hour an entry is served only if legacy fails", async () => {
    const { pass } = clock();
    const { legacy, ask } = await cachedGateway();
    await ask(kept.getDataset);
    pass(71 * minute);
    legacy.mode = "down";
    expect((await ask(kept.getDataset)).how).toMatch(/stale-if-error/);
    pass(minute);
    legacy.mode = "healthy";
    legacy.version = 2;
    expect(markOf((await ask(kept.getDataset)).body)).toBe("nobody 2");
  });
});

test("max-stale extends what all may always see, never what may turn private", () => {
  const windows = { fresh: 10, staleWhileRevalidate: 20, staleIfError: 100 };
  const about = { endpoint: "e", groups: [], storedAt: 0 };
  const judged = (entry: ReturnType<typeof entryOf>) =>
    [9, 29, 40].map((now) => freshnessOf(entry, now, { maxStale: 1000 }));
  const representation = untagged({ status: 200, body: "x" });
  expect(judged(entryOf(representation, { ...about, lifetimes: windows }))).toEqual(["fresh", "stale", "stale"]);
  const dataset = entryOf(representation, { ...about, lifetimes: { ...windows, mayTurnPrivate: true } });
  expect(judged(dataset)).toEqual(["fresh", "stale", "ifError"]);
});
