import { expect, test } from "vitest";
import { pathTo } from "../../../store/redis/pathTo.ts";
import { describeWithRedis, startRedis } from "../../../store/redis/redisServer.ts";
import { agreed, begin, wait } from "./instances.ts";
import { entry, moveOn } from "./moves.ts";
import { openRedis, stagesOf } from "./support.ts";
import { until } from "../../../support/waiting.ts";

describeWithRedis("a Redis that is away", () => {
  test("the state stays in force, moves are refused, and work again when it is back", async () => {
    const { redis, a, b } = await begin({ keeps: true });
    await redis.kill();
    const began = performance.now();
    await expect(moveOn(a, "getThing", 4)).rejects.toThrow(/./);
    await expect(a.expect(entry("two"))).rejects.toThrow(/./);
    expect(performance.now() - began).toBeLessThan(10_000);
    await until(() => a.events.length === 1 && b.events.length === 1);
    expect(a.events[0]).toMatch(/^migration_store_lost .*ECONNREFUSED/);
    expect([stagesOf(a.state()), stagesOf(b.state())]).toEqual([agreed, agreed]);
    await redis.start();
    await until(() => a.events.length === 2 && b.events.length === 2);
    expect([a.events[1], b.events[1]]).toEqual(["migration_store_up {}", "migration_store_up {}"]);
    expect(await moveOn(a, "getThing", 5)).toBe(true);
    await until(() => b.state().audit.length === 4);
    expect(b.state()).toEqual(a.state());
  });

  test("one that hangs does not hold a move up; what it does late all the same is told", async () => {
    const { redis, a, b } = await begin();
    redis.pause();
    const began = performance.now();
    await expect(moveOn(a, "getThing", 4, "legacy")).rejects.toThrow("Redis did not answer within 500 ms");
    await expect(moveOn(a, "getThing", 5, "legacy")).rejects.toThrow("Redis did not answer within 500 ms");
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(stagesOf(a.state())).toEqual(agreed);
    redis.resume();
    await wait(1500);
    expect(b.state()).toEqual(a.state());
    expect(a.state().audit.length - 3).toBe(a.changes.length - 1);
    expect(await moveOn(a, "getThing", 6)).toBe(true);
  });

  test("connections that carry nothing any more are made anew", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const a = await openRedis(path.url);
    await moveOn(a, "getThing", 1);
    path.freeze("all");
    await expect(moveOn(a, "getThing", 2)).rejects.toThrow("did not answer");
    await until(() => a.events.length >= 1);
    await until(() => a.events.length >= 2);
    expect(await moveOn(a, "getThing", 3)).toBe(true);
    expect(a.events.map((event) => event.split(" ")[0])).toEqual(["migration_store_lost", "migration_store_up"]);
  });

  test("a full or read-only one refuses moves and reports it", async () => {
    const { redis, a } = await begin();
    await redis.talk("CONFIG SET maxmemory 1");
    await expect(moveOn(a, "getThing", 4)).rejects.toThrow("OOM");
    await redis.talk("CONFIG SET maxmemory 0", "REPLICAOF 127.0.0.1 1");
    await expect(moveOn(a, "getThing", 5)).rejects.toThrow("READONLY");
    expect([stagesOf(a.state()), a.state().audit.length]).toEqual([agreed, 3]);
    await redis.talk("REPLICAOF NO ONE");
    expect(await moveOn(a, "getThing", 6)).toBe(true);
  });

  test("at the start it is an error that names it, and no password", async () => {
    const redis = await startRedis();
    await redis.kill();
    const { host } = new URL(redis.url);
    const url = `redis://olga:secret-word@${host}`;
    const message = await openRedis(url, { patience: 300 }).catch((error: Error) => error.message);
    expect(message).toMatch(new RegExp(`^REDIS_URL: ${host} cannot be used: .*ECONNREFUSED`));
    expect(message).not.toContain("secret-word");
  });

  test("at the start one that hangs is an error, and one that comes up is waited for", async () => {
    const redis = await startRedis();
    redis.pause();
    await expect(openRedis(redis.url, { patience: 300 })).rejects.toThrow("cannot be used: it does not answer");
    redis.resume();
    await redis.kill();
    const opening = openRedis(redis.url);
    await wait(200);
    await redis.start();
    expect(await moveOn(await opening, "getThing", 1)).toBe(true);
  });
});
