import { expect, test } from "vitest";
import { KEY, onRedis, put, textOf } from "../support.ts";
import { describeWithRedis, startRedis } from "./redisServer.ts";
import { until } from "../../support/waiting.ts";

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A Redis, and two gateways that agree on two values; a third one was deleted. */
const begin = async () => {
  const redis = await startRedis({ keeps: true });
  const [a, b] = [await onRedis(redis.url), await onRedis(redis.url)];
  await put(a, "a", "one");
  await put(a, "gone", "one");
  await put(b, "b", "two");
  b.save(new Map([["gone", undefined]]));
  await until(() => [a, b].every((store) => textOf(store) === "a=one b=two"));
  return { redis, a, b };
};

describeWithRedis("gateways that share a store on Redis", () => {
  test("a change is reported once to the other gateway, and not to its own", async () => {
    const { a, b } = await begin();
    const before = [a.told.length, b.told.length];
    await put(a, "a", "three");
    await until(() => b.told.at(-1) === "a=three");
    await wait(300);
    expect([a.told.length, b.told.length]).toEqual([before[0], (before[1] ?? 0) + 1]);
    expect([...a.events, ...b.events]).toEqual([]);
  });

  test("of updates at the same moment none is lost", async () => {
    const { a, b } = await begin();
    const add = (store: typeof a, text: string) => store.update("a", (latest) => ({ name: `${latest?.name}${text}` }));
    await Promise.all(Array.from({ length: 20 }, () => [add(a, "+"), add(b, "-")]).flat());
    await until(() => a.entries().get("a")?.name === b.entries().get("a")?.name);
    expect(a.entries().get("a")?.name.split("").toSorted().join("")).toBe(`${"+".repeat(20)}${"-".repeat(20)}eno`);
  });

  test.each([
    ["everything", ["FLUSHALL"], ["a", "b", "gone"]],
    ["one record", [`HDEL ${KEY}records b`], ["b"]],
    ["a deletion and the log", [`HDEL ${KEY}records gone`, `DEL ${KEY}log`], ["gone"]],
  ])("a Redis that has lost %s is refilled, which one of them reports", async (_, commands, keys) => {
    const { redis, a, b } = await begin();
    const before = [a.told.length, b.told.length];
    await redis.talk(...commands);
    await until(() => a.events.length + b.events.length > 0);
    await wait(300);
    const [event = "", ...more] = [...a.events, ...b.events];
    expect([more, event.match(/"key":"\w+"/g)?.toSorted()]).toEqual([[], keys.map((key) => `"key":"${key}"`)]);
    expect(textOf(await onRedis(redis.url))).toBe("a=one b=two");
    expect([a.told.length, b.told.length]).toEqual(before);
  });

  test("unreadable values are reported once and left alone until an update replaces them", async () => {
    const { redis, a, b } = await begin();
    await redis.talk(`HSET ${KEY}records a garbage c "{\\"version\\":99,\\"value\\":{\\"name\\":7}}"`);
    await until(() => a.events.length + b.events.length === 2);
    const fresh = await onRedis(redis.url);
    expect([textOf(a), textOf(fresh)]).toEqual(["a=one b=two", "b=two"]);
    expect([fresh.isUnreadable("a"), fresh.isUnreadable("b"), fresh.isUnreadable("c")]).toEqual([true, false, true]);
    await put(b, "b", "three");
    await until(() => textOf(a) === "a=one b=three");
    for (const { events } of [a, b, fresh]) expect(events).toEqual(['unreadable {"keys":["a","c"]}']);
    expect(await redis.talk(`HGET ${KEY}records a`, `HGET ${KEY}records c`)).toMatch(/garbage[^]*"name":7/);
    await put(b, "c", "mended");
    await until(() => textOf(fresh) === "b=three c=mended");
  });

  test("without Redis nothing is updated, and what is saved is written when it is back", async () => {
    const { redis, a, b } = await begin();
    await redis.kill();
    await expect(put(a, "a", "three")).rejects.toThrow(/./);
    a.save(new Map([["c", { name: "saved" }]]));
    expect(textOf(a)).toBe("a=one b=two c=saved");
    await until(() => a.events.length === 1 && b.events.length === 1);
    expect(a.events[0]).toMatch(/^lost \{"why":/);
    await redis.start();
    await until(() => textOf(b) === "a=one b=two c=saved");
    await until(() => a.events.length === 2 && b.events.length === 2);
    expect([a.events[1], b.events[1]]).toEqual(["up {}", "up {}"]);
  });

  test("a Redis that reads but refuses writes is lost until it takes them", async () => {
    const { redis, a } = await begin();
    await redis.refuseWrites("replica");
    await until(() => a.events.length === 1);
    expect(a.events[0]).toMatch(/^lost \{"why":"READONLY/);
    await expect(put(a, "a", "three")).rejects.toThrow(/READONLY/);
    await redis.takeWrites();
    await until(() => a.events.length === 2);
    expect([a.events[1], textOf(a)]).toEqual(["up {}", "a=one b=two"]);
  });

  test("at most one of them holds the lease; when it closes another one does", async () => {
    const { url } = await startRedis();
    const open = () => onRedis(url, { hasLease: true, interval: 50, lease: 60_000 });
    const gateways = [await open(), await open(), await open()];
    const holders = () => gateways.filter((store) => store.holdsLease());
    await until(() => holders().length === 1);
    const [first] = holders();
    for (let i = 0; i < 20; i++) {
      expect(holders()).toEqual([first]);
      // Another gateway's look is over.
      await gateways[i % 3]?.update("a", () => ({ name: `${i}` }));
    }
    await first?.close();
    await until(() => holders().length === 1);
    expect(holders()).not.toEqual([first]);
    expect((await onRedis(url)).holdsLease()).toBe(false);
  });

  test("stores of another scope or name share nothing", async () => {
    const { redis, a } = await begin();
    const [other, scoped] = [await onRedis(redis.url, { name: "others" }), await onRedis(redis.url, { scope: "x" })];
    await put(other, "a", "other");
    await put(scoped, "a", "scoped");
    await wait(300);
    expect([textOf(a), textOf(other), textOf(scoped)]).toEqual(["a=one b=two", "a=other", "a=scoped"]);
  });
});
