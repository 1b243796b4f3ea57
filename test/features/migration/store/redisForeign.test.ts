import { expect, test } from "vitest";
import { describeWithRedis } from "../../../store/redis/redisServer.ts";
import { agreed, begin, KEY, wait } from "./instances.ts";
import { entry, moveOn } from "./moves.ts";
import { openRedis, stagesOf } from "./support.ts";
import { until } from "../../../support/waiting.ts";

describeWithRedis("a Redis with foreign values", () => {
  test("they are left alone and reported once; a move replaces one", async () => {
    const { redis, a } = await begin();
    await redis.talk(
      `HSET ${KEY}records stage/getOther garbage stage/getThing "{\\"version\\":99,\\"value\\":{\\"moves\\":1}}"`,
      `HSET ${KEY}records expected/two "{}"`,
      `HSET ${KEY}records expected/three "{\\"version\\":99,\\"value\\":{}}"`,
    );
    const reported = [
      'migration_store_unreadable {"endpoint":"getOther"}',
      'migration_store_unreadable {"endpoint":"getThing"}',
      'migration_store_unreadable {"expected":"two"}',
      'migration_store_unreadable {"expected":"three"}',
    ];
    await until(() => a.events.length >= 4);
    const fresh = await openRedis(redis.url, { endpoints: ["getThing"] });
    expect(fresh.events.toSorted()).toEqual(
      [...reported, 'migration_store_unknown {"endpoint":"listThings"}'].toSorted(),
    );
    // The last known state stays. A new instance starts without one.
    expect(stagesOf(a.state())).toEqual(agreed);
    expect(stagesOf(fresh.state())).toEqual(["listThings canary 2"]);
    expect(await a.expect(entry("two"))).toBe(false);
    await moveOn(a, "listThings", 4);
    await wait(1200);
    expect(a.events.toSorted()).toEqual(reported.toSorted());
    expect(await redis.talk(`HGET ${KEY}records stage/getOther`, `HGET ${KEY}records expected/two`)).toMatch(
      /garbage[^]*\{\}/,
    );
    expect(await moveOn(a, "getThing", 5, "legacy")).toBe(true);
    await until(() => stagesOf(fresh.state())[0] === "getThing legacy 5");
  });

  test("a key of another kind stops a start, but no gateway that runs", async () => {
    const { redis, a } = await begin();
    await redis.talk(`SET ${KEY}records foreign`);
    await expect(openRedis(redis.url, { patience: 300 })).rejects.toThrow("WRONGTYPE");
    await until(() => a.events.length === 1);
    expect(a.events[0]).toMatch(/^migration_store_lost .*WRONGTYPE/);
    expect(stagesOf(a.state())).toEqual(agreed);
    await redis.talk(`DEL ${KEY}records`);
    await until(() => a.events.includes("migration_store_up {}"));
    expect(stagesOf((await openRedis(redis.url)).state())).toEqual(agreed);
    expect(await moveOn(a, "getThing", 4)).toBe(true);
  });
});
