import { type Socket, connect, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type Entry, entryOf } from "../../src/cache/entry.ts";
import { represent } from "../../src/cache/representation.ts";
import type { Drop } from "../../src/cache/sharedTier.ts";
import { openLease } from "../../src/redis/lease.ts";
import { redisTier } from "../../src/redis/redisTier.ts";
import { fromWire, toWire } from "../../src/redis/wire.ts";
import { until } from "../passThrough/support.ts";
import { startRedis } from "./redisServer.ts";

const wait = (ms: number) => new Promise((r) => setTimeout(r, ms));
const windows = { fresh: 60_000, stale: 60_000, staleIfError: 120_000 };
const entry = async (body: string, about: Partial<Entry> = {}): Promise<Entry> =>
  entryOf(await represent({ status: 200, body }), { endpoint: "getDataset", groups: ["dataset/61", "dataset"], windows, storedAt: Date.now(), ...about });
const open = async (url: string, ready = true) => {
  const told = { drops: [] as Drop[], lost: 0, counts: [] as string[], events: [] as unknown[] };
  const tier = redisTier({ url, timeout: 50, longest: 240_000, onEvent: (event, about) => told.events.push([event, about]), count: (c, r) => told.counts.push(`${c} ${r}`) })({ onDrop: (d) => told.drops.push(d), onLost: () => told.lost++ });
  onTestFinished(() => tier.close());
  if (ready) await until(() => tier.trusted());
  return { ...tier, told };
};

test("F1 changing unannounced epochs", () => {
  let now = 0;
  const lease = openLease(() => now);
  lease.beat(now, "e0");
  const held: boolean[] = [];
  for (let i = 1; i < 6; i++) { now += 300; held.push(lease.beat(now, `e${i}`)); }
  expect(held).toContain(false);
});

test("F2 first connect: owner told", async () => {
  const redis = await startRedis();
  await redis.kill();
  const a = await open(redis.url, false);
  await wait(200);
  await redis.start();
  const b = await open(redis.url);
  await b.drop({ groups: ["x"] });
  await until(() => a.trusted());
  expect(a.told.lost + a.told.drops.length).toBeGreaterThan(0);
});

test("F3 get right behind the first drop", async () => {
  const redis = await startRedis();
  const a = await open(redis.url); const b = await open(redis.url);
  a.set("k", await entry("old"), a.mark());
  await until(() => a.told.counts.includes("set stored"));
  expect(await b.get("k")).toBeDefined();
  const dropping = b.drop({ groups: ["dataset/61"] });
  const got = await b.get("k");
  await dropping;
  expect(got).toBeUndefined();
});

test("F6 cut body", async () => {
  const bytes = toWire(await entry('{"a":1}'));
  await expect(fromWire(bytes.subarray(0, bytes.length - 1))).rejects.toBeInstanceOf(Error);
});

test("F9 newline in a group", async () => {
  const redis = await startRedis();
  const a = await open(redis.url);
  a.set("k", await entry("old", { groups: ["study/a\nb"] }), a.mark());
  await wait(100);
  await a.drop({ groups: ["study/a\nb"] });
  expect(await a.get("k")).toBeUndefined();
});

test("F8 localhost refused is told", async () => {
  const redis = await startRedis();
  await redis.kill();
  const a = await open(redis.url.replace("127.0.0.1", "localhost"), false);
  await wait(500);
  console.log(JSON.stringify(a.told.events));
  expect(a.told.events.length).toBeGreaterThan(0);
  expect(JSON.stringify(a.told.events)).toMatch(/REFUSED/);
});

test("F11 garbage published", async () => {
  const redis = await startRedis();
  const a = await open(redis.url);
  await redis.talk("PUBLISH catalog-gateway:1:drops garbage");
  await wait(100);
  console.log(JSON.stringify(a.told.events));
  await until(() => a.trusted(), 4000);
});

test("F7 black hole", async () => {
  const redis = await startRedis();
  const port = Number(new URL(redis.url).port);
  let frozen = new Set<Socket>(); const all = new Set<Socket>();
  const proxy = createServer({ allowHalfOpen: true }, (socket) => {
    const up = connect(port, "127.0.0.1");
    all.add(socket); all.add(up);
    socket.on("data", (d) => frozen.has(socket) || up.write(d)).on("error", () => {});
    up.on("data", (d) => frozen.has(socket) || socket.write(d)).on("error", () => {});
  });
  await new Promise<void>((r) => proxy.listen(0, "127.0.0.1", r));
  onTestFinished(() => { for (const s of all) s.destroy(); proxy.close(); });
  const a = await open(`redis://127.0.0.1:${(proxy.address() as { port: number }).port}`);
  frozen = new Set(all);
  await until(() => !a.trusted());
  const began = performance.now();
  await until(() => a.trusted(), 12_000);
  console.log("back after", performance.now() - began);
});
test("F12 events in an outage", async () => {
  const redis = await startRedis();
  const a = await open(redis.url);
  await redis.kill(); await wait(2500);
  console.log(JSON.stringify(a.told.events));
  expect(a.told.events.length).toBeLessThan(5);
});
