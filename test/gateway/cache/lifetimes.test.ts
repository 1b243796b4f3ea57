import { describe, expect, test, vi } from "vitest";
import { alice, cachedGateway, clock, kept, markOf } from "./support.ts";
import { pageOfMetrics } from "../../support/metrics.ts";

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
  ])("an answer that belongs to a key is fresh for a minute at most, %s", async (_, environment) => {
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

  test("no answer of a key is served stale, even if legacy fails and the client allows", async () => {
    const { pass } = clock();
    const { legacy, ask, as } = await cachedGateway();
    legacy.privateTo = alice;
    for (const [, path] of names) await ask(path, as(alice));
    pass(minute);
    // The key is good all the time.
    await ask("/v1/datasets/abc", as(alice));
    legacy.mode = "down";
    for (const [name, path] of names)
      for (const wanted of ["max-stale", "max-age=100", "only-if-cached"]) {
        const { status } = await ask(path, { ...as(alice), "Cache-Control": wanted });
        expect([name, wanted, status]).toEqual([name, wanted, expect.toBeOneOf([502, 503, 504])]);
      }
  });

  test.each([30 * second, 60 * minute])(
    "a clock set back by %s ms does not prolong the life of an answer of a key",
    async (back) => {
      const { pass } = clock();
      const { legacy, ask, as } = await cachedGateway();
      for (const [, path] of names) await ask(path, as(alice));
      pass(59 * second);
      vi.setSystemTime(Date.now() - back);
      pass(second);
      legacy.version = 2;
      for (const [name, path] of names)
        expect([name, markOf((await ask(path, as(alice))).body)]).toEqual([name, "alice 2"]);
    },
  );
});

describe("answers about records that may turn private", () => {
  const mayTurn = ["getDataset", "listDatasets", "getStudy"] as const;

  test.each([
    ["by default", {}],
    ["whatever CACHE_LIFETIMES says", { CACHE_LIFETIMES: long }],
  ])("a record that may turn private is served stale for an hour at most, %s", async (_, environment) => {
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

  test("past an hour a record that may turn private is served only if legacy fails", async () => {
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

test("a failed refresh is tried again, and ages go on, if the clock is set back", async () => {
  const { pass } = clock();
  const { legacy, ask, core } = await cachedGateway();
  await ask(kept.getDataset);
  pass(15 * minute);
  legacy.mode = "erroring";
  expect((await ask(kept.getDataset)).how).toContain("stale-while-revalidate");
  const failed = /refresh_failed"\} 1$/m;
  await vi.waitFor(async () => expect(await pageOfMetrics(core.meter)).toMatch(failed));
  vi.setSystemTime(Date.now() - 10 * minute);
  pass(2 * second);
  Object.assign(legacy, { mode: "healthy", privateTo: alice });
  const { how, headers } = await ask(kept.getDataset);
  expect([how, headers.get("age")]).toEqual([expect.stringContaining("stale-while-revalidate"), "902"]);
  await vi.waitFor(async () => expect((await ask(kept.getDataset)).status).toBe(403));
});

test.each([
  ["404", { gone: true }, "/v1/datasets/61", 60_000],
  ["404 of an alias", { gone: true }, "/v1/studies/no-such", 60_000],
])("%s is cached for its own short lifetime", async (_, change, path, lifetime) => {
  const { pass } = clock();
  const { legacy, ask } = await cachedGateway();
  Object.assign(legacy, change);
  const first = await ask(path);
  expect([first.status, first.headers.get("cache-control")]).toEqual([404, `public, max-age=${lifetime / 1000}`]);
  pass(lifetime - 1);
  expect((await ask(path)).how).toMatch(/^hit/);
  pass(1);
  expect((await ask(path)).how).toMatch(/^fwd=uri-miss/);
});

test("lifetimes can be set one by one", async () => {
  const { pass } = clock();
  const { ask } = await cachedGateway({
    CACHE_LIFETIMES: '{"getDataset": {"fresh": "5s", "staleWhileRevalidate": "0s"}}',
  });
  expect((await ask("/v1/datasets/61")).headers.get("cache-control")).toBe("public, max-age=5, stale-if-error=604800");
  pass(5000);
  expect((await ask("/v1/datasets/61")).how).toBe("fwd=stale; stored; ttl=5");
});
