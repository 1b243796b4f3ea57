import { expect, test } from "vitest";
import { pathTo } from "../../../store/redis/pathTo.ts";
import { describeWithRedis, startRedis } from "../../../store/redis/redisServer.ts";
import { agreed, expectAgreed, begin, openRedis } from "./instances.ts";
import { row, walked } from "./rows.ts";
import { sleep, until } from "../../../support/waiting.ts";

const namesOf = (events: string[]) => events.map((event) => event.split(" ")[0]);
const lostAndUp = ["private_index_store_lost", "private_index_store_up"];

describeWithRedis("a Redis that is away", () => {
  test("what is learned meanwhile is written when it is back, and replaces older rows", async () => {
    const { redis, a, b } = await begin({ keeps: true });
    await redis.kill();
    a.learn({ rows: [row(3), row(1, "changed")] });
    a.learn({ rows: [row(4)], gone: [3] });
    b.learn({ rows: [row(5)], gone: [2] });
    await until(() => a.events.length === 1 && b.events.length === 1);
    expect(a.events[0]).toMatch(/^private_index_store_lost \{"why":/);
    expect(a.text()).toBe("1:changed 2:row 2 4:row 4 @40");
    await redis.start();
    await expectAgreed("1:changed 4:row 4 5:row 5 @40", a, b);
    await until(() => a.events.length === 2 && b.events.length === 2);
    expect([namesOf(a.events), namesOf(b.events)]).toEqual([lostAndUp, lostAndUp]);
  });

  test("at the start it holds nobody up; what is there is told when it is reached", async () => {
    const { redis, a } = await begin();
    const way = await pathTo(redis.url);
    way.cut();
    const c = await openRedis(way.url);
    c.learn({ rows: [row(3), row(1, "newer")] });
    await until(() => c.events.length > 0);
    expect([c.told, c.store.mayWalk()]).toEqual([[], false]);
    way.mend();
    await expectAgreed("1:newer 2:row 2 3:row 3 @40", a, c);
    expect(c.told).toEqual(["2 walk"]);
    await until(() => c.events.length === 2);
    expect(namesOf(c.events)).toEqual(lostAndUp);
  });

  test("connections that carry nothing any more are made anew", async () => {
    const { redis, a } = await begin();
    const way = await pathTo(redis.url);
    const c = await openRedis(way.url);
    await expectAgreed(agreed, c);
    way.freeze("all");
    c.learn({ rows: [row(3)] });
    a.learn({ rows: [row(4)] });
    await expectAgreed("1:row 1 2:row 2 3:row 3 4:row 4 @40", a, c);
    await until(() => c.events.length === lostAndUp.length);
    expect(namesOf(c.events)).toEqual(lostAndUp);
  });

  test("one that is full keeps nothing, and says so; when it is not it has all of it", async () => {
    const { redis, a, b } = await begin();
    await redis.talk("CONFIG SET maxmemory 1");
    a.learn({ rows: [row(3)], walk: walked(41) });
    await until(() => a.events.length > 0);
    expect(a.events[0]).toMatch(/^private_index_store_lost .*OOM/);
    await redis.talk("CONFIG SET maxmemory 0");
    await until(() => b.known().rows.length === 3);
    await until(() => a.events.length === 2);
    expect(namesOf(a.events)).toEqual(lostAndUp);
  });

  test("one that hangs does not hold up a stop for ever", async () => {
    const redis = await startRedis();
    const a = await openRedis(redis.url, { renewAfter: 60_000 });
    await until(() => a.store.mayWalk());
    redis.pause();
    a.learn({ rows: [row(1)] });
    const began = performance.now();
    await Promise.all([a.store.close(), a.store.close()]);
    expect(performance.now() - began).toBeLessThan(4000);
    redis.resume();
    await sleep(10);
  });
});
