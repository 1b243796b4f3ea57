import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { burstOf } from "../../src/features/rateLimit/burst.ts";
import type { RateLimitSettings } from "../../src/features/rateLimit/settings.ts";
import { countWorkers, divideSettings } from "../../src/settings/divide.ts";
import { fragments, settingsOf } from "../support/settings.ts";

const read = (environment: Record<string, string>) => {
  const loaded = settingsOf(environment);
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  return loaded.settings;
};

test("WORKERS is a number or auto", () => {
  expect(countWorkers(read({}))).toBe(1);
  expect(countWorkers(read({ WORKERS: "3" }))).toBe(3);
  expect(countWorkers(read({ WORKERS: "auto" }))).toBe(Math.min(availableParallelism(), 8));
  expect(countWorkers(read({ WORKERS: "auto", MAX_CONNECTIONS: "1" }))).toBe(1);
});

test.each(["0", "65", "many", "1.5"])("WORKERS=%s is refused by name", (WORKERS) => {
  const loaded = settingsOf({ WORKERS });
  expect("errors" in loaded ? loaded.errors : []).toEqual([
    expect.stringMatching(/^WORKERS: .* given in the environment; allowed is an integer from 1 to 64, or auto$/),
  ]);
});

test.each([
  ["MAX_REPLIES_BYTES", { WORKERS: "9" }],
  ["MAX_CONNECTIONS", { WORKERS: "2", MAX_CONNECTIONS: "1" }],
  ["MAX_CLIENT_CONNECTIONS", { WORKERS: "3", MAX_CLIENT_CONNECTIONS: "2" }],
])("%s has to have room for each worker", (name, environment) => {
  const loaded = settingsOf(environment);
  const errors = "errors" in loaded ? loaded.errors : [];
  expect(errors.map((error) => error.split(":")[0])).toEqual([name]);
});

test.each([
  [{ RATE_LIMIT: "1", RATE_LIMIT_BURST: "3", WORKERS: "4" }, "3"],
  [{ RATE_LIMIT: "1", WORKERS: "16" }, "ten seconds' worth, 10,"],
])("a burst of %j has to have room for each worker without Redis", (environment, given) => {
  const enough = { MAX_REPLIES_BYTES: String(1024 ** 3) };
  const loaded = settingsOf({ ...enough, ...environment });
  expect("errors" in loaded ? loaded.errors : []).toEqual([
    `RATE_LIMIT_BURST: ${given} given; allowed with ${environment.WORKERS} WORKERS and without REDIS_URL is at least ${environment.WORKERS}, one for each`,
  ]);
  expect(settingsOf({ ...enough, ...environment, REDIS_URL: "redis://127.0.0.1:1" })).not.toHaveProperty("errors");
});

test.each([1, 5, 9])("workers together let through no more than RATE_LIMIT=%i, and no less", (rate) => {
  for (let count = 1; count <= 10 * rate; count++) {
    const share = divideSettings(read({ RATE_LIMIT: String(rate) }), fragments, count) as RateLimitSettings;
    expect((share.RATE_LIMIT ?? 0) * count).toBeCloseTo(rate);
    expect(burstOf(share)).toBeGreaterThanOrEqual(1);
    expect(burstOf(share) * count).toBeLessThanOrEqual(10 * rate);
  }
});

test("each worker has its share of the bounds, and at least one", () => {
  const settings = read({
    MODERN_URL: "http://127.0.0.1:9",
    WORKERS: "3",
    CACHE_BYTES: "0",
    MAX_CONNECTIONS: "10",
    READER_THREADS: "2",
    MIRROR_RATE: "7",
    RATE_LIMIT: "9",
  });
  expect(divideSettings(settings, fragments, 3)).toMatchObject({
    CACHE_BYTES: 0,
    MAX_CONNECTIONS: 3,
    READER_THREADS: 1,
    MIRROR_RATE: 2,
    RATE_LIMIT: 3,
    MAX_REPLY_BYTES: settings.MAX_REPLY_BYTES,
  });
  const shared = { ...settings, REDIS_URL: "redis://127.0.0.1:1" };
  expect(divideSettings(shared, fragments, 3)).toMatchObject({ RATE_LIMIT: 9 });
});
