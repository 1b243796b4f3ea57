import { brotliCompressSync } from "node:zlib";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Entry } from "../../../src/gateway/cache/entry.ts";
import { tagOf } from "../../../src/gateway/cache/entry.ts";
import type { Invalidation } from "../../../src/gateway/cache/secondTier.ts";
import { fromWire, toWire } from "../../../libraries/stores/storedEntry.ts";
import { pathTo } from "../../libraries/stores/redis/pathTo.ts";
import { describeWithRedis, startRedis } from "../../libraries/stores/redis/redisServer.ts";
import { begin, entry, heartbeats, open } from "./support.ts";
import { until } from "../../support/waiting.ts";

/** An entry as it comes back: its moments are a little changed, and failed refreshes are not shared. */
const alike = (stored: Entry) => ({
  ...stored,
  storedAt: expect.closeTo(stored.storedAt, -4) as number,
  freshUntil: expect.closeTo(stored.freshUntil, -4) as number,
  failures: 0,
  retryAt: 0,
});

test.each([
  ["small", "{}"],
  ["large", JSON.stringify(Array.from({ length: 5000 }, (_, i) => ({ did: i, name: `n${i}` })))],
  ["not found", '{"detail":{"code":"111"}}', { status: 404 }],
  ["stale, and not yet refreshed", "{}", { failures: 3, retryAt: 9e9 }],
] as [string, string, Partial<Entry>?][])(
  "an answer that is %s stays what it is on its way through bytes",
  async (_, body, about = {}) => {
    const before = await entry(body, about);
    const after = await fromWire(toWire(before));
    expect(after).toEqual(alike(before));
    expect(Object.keys(after?.coded ?? {})).toEqual(Object.keys(before.coded));
  },
);

/** The bytes of an entry with these members in its head. */
const withHead = (good: Buffer, change: object): Buffer => {
  const end = 5 + good.readUInt32BE(1);
  const head = JSON.parse(good.toString("utf8", 5, end)) as object;
  const changed = Buffer.from(JSON.stringify({ ...head, ...change }));
  const start = Buffer.from(good.subarray(0, 5));
  start.writeUInt32BE(changed.length, 1);
  return Buffer.concat([start, changed, good.subarray(end)]);
};

test.each<[string, (good: Buffer) => Buffer]>([
  ["no bytes", () => Buffer.alloc(0)],
  ["one byte", () => Buffer.from("x")],
  ["a head of no bytes", () => Buffer.from([9, 0, 0, 0, 0])],
  ["a head longer than all bytes", () => Buffer.from([1, 255, 255, 255, 255])],
  ["the first bytes", (good) => good.subarray(0, 20)],
  ["all bytes but the last", (good) => good.subarray(0, good.length - 1)],
  ["another last byte", (good) => Buffer.concat([good.subarray(0, good.length - 1), Buffer.from("]")])],
  ["a type with a line break", (good) => withHead(good, { type: "text/html\r\nX-Evil: 1" })],
  ["a type with a control character", (good) => withHead(good, { type: "a\u0001" })],
  ["a type with a euro sign", (good) => withHead(good, { type: "\u20ac" })],
  ["a status of no answer", (good) => withHead(good, { status: 99 })],
  ["a status of an answer before the answer", (good) => withHead(good, { status: 101 })],
  ["a status of six digits", (good) => withHead(good, { status: 100_000 })],
  ["a header without a name", (good) => withHead(good, { headers: { "": "a" } })],
  ["a header's name with a blank", (good) => withHead(good, { headers: { "a b": "c" } })],
  ["a header with a line break", (good) => withHead(good, { headers: { a: "b\nc" } })],
  ["a group with a line break", (good) => withHead(good, { groups: ["dataset/1\n"] })],
])("bytes that are no entry of the gateway are refused: %s", async (_, change) => {
  await expect(fromWire(change(toWire(await entry("{}"))))).rejects.toBeInstanceOf(Error);
});

test("a few bytes that decode to more than 32 MiB are refused", async () => {
  const body = Buffer.alloc(33 * 1024 ** 2);
  const bomb = toWire({ ...(await entry("{}", { tag: tagOf(body) })), body, coded: { br: brotliCompressSync(body) } });
  await expect(fromWire(bomb)).rejects.toThrow("33554432");
});

describeWithRedis("the tier on Redis", () => {
  test("an entry of a gateway whose clock is ahead counts from now on", async () => {
    const redis = await startRedis();
    const [a, b] = [await open(redis.url), await open(redis.url)];
    await a.put("ahead", await entry("[1]", { storedAt: performance.now() + 30_000 }));
    await a.put("far", await entry("[2]", { storedAt: performance.now() + 90_000 }));
    expect((await b.get("ahead"))?.storedAt).toBeLessThanOrEqual(performance.now());
    expect(await b.get("far")).toBeUndefined();
  });

  test("an entry is shared by one build until it expires, unless it has an owner", async () => {
    const redis = await startRedis();
    const [a, b] = [await open(redis.url), await open(redis.url)];
    const stored = await entry("[1]".padEnd(3000));
    expect(await a.put("k", stored)).toBe("set stored");
    expect(await b.get("k")).toEqual(alike(stored));
    expect(await b.get("other")).toBeUndefined();
    expect(await (await open(redis.url, 2000, "another")).get("k")).toBeUndefined();
    a.set("own", await entry("secret", { owner: "x" }), a.mark());
    a.set("lines", await entry("[3]", { groups: ["study/a\nb"] }), a.mark());
    await a.put("short", await entry("[2]", { lifetimes: { fresh: 1500, staleWhileRevalidate: 0, staleIfError: 0 } }));
    expect((await b.get("short"))?.body.toString()).toBe("[2]");
    expect([await b.get("own"), await b.get("lines")]).toEqual([undefined, undefined]);
    await until(async () => (await b.get("short")) === undefined);
    const names = (await redis.talk("KEYS *")).split("\r\n").filter((line) => /^[^$*+]/.test(line));
    const ours = /^catalog-gateway:1:(e:b:(k|short)|epochs?|v:(\*|@getDataset|dataset|dataset\/61))$/;
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !ours.test(name))).toEqual([]);
  });

  test.each<[string, Invalidation]>([
    ["a group", { groups: ["dataset/61"] }],
    ["an endpoint", { endpoint: "getDataset" }],
    ["everything", { all: true }],
    ["a key", { keys: ["k"] }],
    ["lists", { groups: ["dataset/61", "datasets"], lists: ["datasets"] }],
  ])("an invalidation of %s reaches the others at once, and holds for all", async (_, drop) => {
    const redis = await startRedis();
    const [a, b] = [await open(redis.url), await open(redis.url)];
    await a.put("k", await entry("[1]"));
    await a.put("other", await entry("[2]", { endpoint: "getSetup", groups: ["setup/1", "setup"] }));
    await b.invalidate(drop);
    await until(() => a.observed.drops.length === 1);
    expect(a.observed.drops).toEqual([drop]);
    expect(b.observed.drops).toEqual([]);
    expect([await a.get("k"), await b.get("k")]).toEqual([undefined, undefined]);
    expect((await a.get("other")) === undefined).toBe("all" in drop);
    // It can be stored again.
    await until(() => a.mark() === b.mark());
    expect(await a.put("k", await entry("[3]"))).toBe("set stored");
    expect((await b.get("k"))?.body.toString()).toBe("[3]");
    // Once is enough.
    if ("all" in drop) await heartbeats(redis, 4);
    expect([a.observed.lost, b.observed.lost, a.trusted(), b.trusted()]).toEqual([0, 0, true, true]);
  });

  test("an answer that was fetched before an invalidation is not stored after it", async () => {
    const redis = await startRedis();
    const [a, b] = [await open(redis.url), await open(redis.url)];
    const mark = a.mark();
    await b.invalidate({ groups: ["dataset/61"] });
    a.set("k", await entry("old"), mark);
    await until(() => a.observed.counts.includes("set overtaken"));
    expect(await b.get("k")).toBeUndefined();
  });

  test("a full Redis stores no new entries, and still invalidates", async () => {
    const redis = await startRedis();
    const [a, b] = [await open(redis.url), await open(redis.url)];
    await a.put("k", await entry("old"));
    await redis.talk("CONFIG SET maxmemory-policy noeviction", "CONFIG SET maxmemory 1");
    expect(await a.put("k2", await entry("x"))).toBe("set failed");
    expect((await b.get("k"))?.body.toString()).toBe("old");
    await a.invalidate({ groups: ["dataset/61"] });
    await until(() => b.observed.drops.length === 1);
    expect([await a.get("k"), await b.get("k")]).toEqual([undefined, undefined]);
    await redis.talk("CONFIG SET maxmemory 0");
    await until(() => a.mark() !== undefined && a.mark() === b.mark());
    await heartbeats(redis, 4);
    expect([a.observed.lost, b.observed.lost]).toEqual([0, 0]);
    expect(await a.put("k", await entry("new"))).toBe("set stored");
  });

  test("after a late read, later reads do not wait for Redis", async () => {
    const redis = await startRedis();
    const a = await open(redis.url, 100);
    const now = performance.now();
    vi.spyOn(performance, "now").mockReturnValue(now);
    onTestFinished(() => void vi.restoreAllMocks());
    redis.pause();
    for (let i = 0; i < 3; i++) expect(await a.get("k")).toBeUndefined();
    expect(a.observed.counts).toEqual(["get late"]);
    redis.resume();
  });

  test("garbage under one of our keys is no answer and no error", async () => {
    const redis = await startRedis();
    const a = await open(redis.url);
    await a.put("k", await entry("[1]"));
    await redis.talk("HSET catalog-gateway:1:e:b:k d garbage");
    expect(await a.get("k")).toBeUndefined();
    expect(a.trusted()).toBe(true);
  });

  test.each([
    ["epoch", "LPUSH"],
    ["epochs", "SET"],
    ["e:b:k", "SET"],
    ["v:dataset/61", "LPUSH"],
  ])("where %s has another type it is set aside, and gateways share again", async (name, command) => {
    const redis = await startRedis();
    const key = `catalog-gateway:1:${name}`;
    const [a, b] = [await open(redis.url), await open(redis.url)];
    await a.put("k", await entry("[1]"));
    await redis.talk(`DEL ${key}`, `${command} ${key} foreign`);
    await a.get("k");
    await heartbeats(redis, 2);
    await a.invalidate({ endpoint: "getSetup" });
    // Where the epoch was lost, so may be invalidations.
    await until(() => a.trusted() && b.trusted() && a.mark() === b.mark());
    await until(async () => {
      await a.put("k", await entry("[2]"));
      return (await b.get("k"))?.body.toString() === "[2]";
    });
    expect([...a.observed.setAside, ...b.observed.setAside]).toEqual([key]);
    expect(await redis.talk(`EXISTS ${key}:set-aside`)).toMatch(/^:1/);
  });

  test("an invalidation does not reach gateways on another database of that Redis", async () => {
    const redis = await startRedis();
    const [a, b] = [await open(redis.url), await open(`${redis.url}/1`)];
    await a.put("k", await entry("[1]"));
    expect(await b.invalidate({ all: true })).toBe(true);
    await heartbeats(redis, 4);
    expect([a.observed.drops, a.observed.lost, (await a.get("k"))?.body.toString()]).toEqual([[], 0, "[1]"]);
  });

  /** From now on what waits for a time waits until the test lets it pass. */
  const stopTimeouts = () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
  };

  test("while Redis hangs, only the first invalidation waits for the others' lease", async () => {
    const redis = await startRedis();
    const [a, b] = [await open(redis.url, 50), await open(redis.url)];
    redis.pause();
    expect(await a.invalidate({ groups: ["dataset/61"] })).toBe(false);
    expect(b.trusted()).toBe(false);
    stopTimeouts();
    const second = a.invalidate({ groups: ["dataset/62"] });
    await vi.advanceTimersByTimeAsync(1);
    expect(await second).toBe(false);
    redis.resume();
  });

  test("while another gateway hangs, only the first invalidation waits for its lease", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const [a, b] = [await open(redis.url, 50), await open(path.url)];
    path.freeze("all");
    expect(await a.invalidate({ groups: ["dataset/61"] })).toBe(false);
    expect(b.trusted()).toBe(false);
    stopTimeouts();
    const second = a.invalidate({ groups: ["dataset/62"] });
    // Redis has confirmed it.
    await heartbeats(redis, 4);
    await vi.advanceTimersByTimeAsync(50);
    await second;
  });

  test("an invalidation that waits is over as soon as all have acknowledged it", async () => {
    const redis = await startRedis();
    const [a, b] = [await open(redis.url, 50), await open(redis.url)];
    redis.pause();
    stopTimeouts();
    const invalidating = a.invalidate({ groups: ["dataset/61"] });
    await vi.advanceTimersByTimeAsync(1400);
    redis.resume();
    expect([await invalidating, b.observed.drops]).toEqual([true, [{ groups: ["dataset/61"] }]]);
  });

  test("invalidations made while cut off reach the others; all keep the rest", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const a = await open(path.url);
    const b = await open(redis.url);
    await b.put("other", await entry("[1]", { groups: ["dataset/62", "dataset"] }));
    path.cut();
    await until(() => !a.trusted());
    await a.invalidate({ groups: ["dataset/61"], hold: 700 });
    await a.invalidate({ endpoint: "getSetup", soft: true });
    expect(b.observed.drops).toEqual([]);
    path.mend();
    await until(() => a.trusted());
    expect(b.observed.drops).toEqual([
      { groups: ["dataset/61"], hold: 700 },
      { endpoint: "getSetup", soft: true },
    ]);
    await heartbeats(redis, 4);
    expect([a.observed.lost, b.observed.lost, b.trusted()]).toEqual([0, 0, true]);
    for (const tier of [a, b]) expect((await tier.get("other"))?.body.toString()).toBe("[1]");
  });

  test.each([
    ["a thousand invalidations", 499, true],
    ["more than Redis remembers", 501, false],
  ])("one gateway misses %s (twice %i): Redis and the other keep the rest: %s", async (_, half, isKept) => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const [a, b] = [await open(path.url), await open(redis.url)];
    path.cut();
    await until(() => !a.trusted());
    for (let i = 0; i < 2; i++) {
      for (let made = 0; made < half; made++) await b.invalidate({ groups: ["dataset/62"] });
      await heartbeats(redis, 4);
    }
    await b.put("k", await entry("[1]"));
    path.mend();
    await until(() => a.trusted());
    expect(a.observed.lost).toBeGreaterThan(0);
    expect([await a.get("k"), await b.get("k")].map((found) => found !== undefined)).toEqual([isKept, isKept]);
    expect(b.observed.lost > 0).toBe(!isKept);
  });

  test("more than a thousand invalidations while cut off become an invalidation of all", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const [a, b] = [await open(path.url), await open(redis.url)];
    path.cut();
    await until(() => !a.trusted());
    await Promise.all(
      Array.from({ length: 1001 }, (_, i) => a.invalidate({ groups: [`g${i}`], ...(i === 7 && { hold: 500 }) })),
    );
    path.mend();
    await until(() => b.observed.drops.some(({ all }) => all === true));
    expect(b.observed.drops.filter((drop) => Object.keys(drop).length > 0)).toEqual([{ all: true, hold: 500 }]);
  });

  test("a tier that is closed while connecting or connected leaves no connection", async () => {
    const redis = await startRedis();
    // All but the requesting one.
    const connected = async () => ((await redis.talk("CLIENT LIST")).match(/^id=|\nid=/g)?.length ?? 0) - 1;
    for (const tier of [begin(redis.url), await open(redis.url)]) {
      await tier.close();
      expect([tier.trusted(), await tier.get("k")]).toEqual([false, undefined]);
    }
    await until(async () => (await connected()) === 0);
  });
});
