import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openIndexStore } from "../../../../src/features/privateDatasets/store/openIndexStore.ts";
import { scopeOf } from "../../../../src/features/privateDatasets/store/scope.ts";
import { describeWithRedis, startRedis } from "../../../store/redis/redisServer.ts";
import { row } from "./rows.ts";
import { openWith } from "./support.ts";
import { until } from "../../../support/waiting.ts";
import { temporaryFolder } from "../../../support/temporaryFolder.ts";

/** An address without a Redis. */
const REDIS_URL = "redis://127.0.0.1:1";
const LEGACY_PATH = "/api/v1";

test("Redis goes before a directory, and without both it is memory", async () => {
  const DATA_DIR = temporaryFolder();
  const kinds = [{ REDIS_URL, DATA_DIR }, { DATA_DIR }, {}].map(async (settings) => {
    const { store } = await openWith(openIndexStore({ LEGACY_PATH, ...settings }));
    return [store.kind, store.mayWalk()];
  });
  expect(await Promise.all(kinds)).toEqual([
    ["redis", false],
    ["directory", true],
    ["memory", true],
  ]);
});

test("memory keeps nothing, and says nothing of it", async () => {
  const { store, told, events, learn } = await openWith(openIndexStore({ LEGACY_PATH }));
  learn({ rows: [row(7)] });
  await store.close();
  expect([told, events]).toEqual([[], []]);
});

const secret = { LEGACY_URL: "http://me:hush@one.example", LEGACY_PATH };

test("the database names the legacy of the settings, but not its address", async () => {
  const DATA_DIR = temporaryFolder();
  const one = await openWith(openIndexStore({ ...secret, DATA_DIR }));
  one.learn({ rows: [row(7)] });
  await one.store.close();
  const text = readFileSync(join(DATA_DIR, "private-rows.sqlite"), "latin1");
  expect(text).toContain(scopeOf(secret));
  expect(text).not.toMatch(/example|hush/);
  const again = await openWith(openIndexStore({ ...secret, DATA_DIR }));
  expect([again.told, again.events]).toEqual([["all: 7"], []]);
  await again.store.close();
  const other = await openWith(openIndexStore({ LEGACY_PATH, DATA_DIR }));
  expect([other.told, other.events]).toEqual([[], [expect.stringContaining("it is of another legacy")]]);
});

describeWithRedis("what is kept in Redis", () => {
  test("is of the legacy in the settings, whose address is in none of its names", async () => {
    const redis = await startRedis();
    const one = await openWith(openIndexStore({ ...secret, REDIS_URL: redis.url }));
    await until(() => one.store.mayWalk());
    const found = await redis.talk("KEYS *", "PUBSUB CHANNELS *");
    const names = found.split("\r\n").filter((line) => line.startsWith("catalog-gateway:"));
    expect(names.toSorted()).toEqual(
      ["changes", "lease"].map((name) => `catalog-gateway:1:state:private-rows:${scopeOf(secret)}:${name}`),
    );
  });
});
