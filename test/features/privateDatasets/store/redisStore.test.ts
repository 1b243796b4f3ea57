import { expect, test } from "vitest";
import { pathTo } from "../../../store/redis/pathTo.ts";
import { describeWithRedis } from "../../../store/redis/redisServer.ts";
import { agreed, expectAgreed, begin, KEY, openRedis, walkers } from "./instances.ts";
import { row, walked } from "./rows.ts";
import { sleep, until } from "../../../support/waiting.ts";

describeWithRedis("instances that share an index by a Redis", () => {
  test("what one learns the others are told, that and no more; it is not told itself", async () => {
    const { redis, a } = await begin();
    // Only what they hear counts: no beat comes in between.
    const [c, d] = [await openRedis(redis.url, { interval: 60_000 }), await openRedis(redis.url, { interval: 60_000 })];
    await expectAgreed(agreed, c, d);
    expect([c.told, d.told]).toEqual([["1 2 walk"], ["1 2 walk"]]);
    a.learn({ rows: [row(3), row(2, "changed")], gone: [1] });
    await expectAgreed("2:changed 3:row 3 @40", a, c, d);
    c.learn({ rows: [row(4)] });
    await expectAgreed("2:changed 3:row 3 4:row 4 @40", a, c, d);
    expect(c.told.slice(1)).toEqual(["-1 2 3"]);
    expect(d.told.slice(1)).toEqual(["-1 2 3", "4"]);
    await sleep(300);
    expect([c.told.length, d.told.length, c.events, d.events]).toEqual([2, 3, [], []]);
  });

  test("who comes later is told all of it", async () => {
    const { redis, a, b } = await begin();
    a.learn({ rows: [{ id: 3, uploader: 7 }], walk: { ...walked(50), completedAt: 1, progressAt: 2 } });
    await until(() => b.known().rows.length === 3);
    const c = await openRedis(redis.url);
    await until(() => c.told.length > 0);
    expect([c.told, c.known()]).toEqual([["1 2 3 walk"], a.known()]);
  });

  test("a message that is lost is made up for, by the next beat or the next message", async () => {
    const { redis, a } = await begin();
    const path = await pathTo(redis.url);
    const [c, d] = [await openRedis(path.url), await openRedis(redis.url, { interval: 60_000 })];
    await expectAgreed(agreed, c, d);
    path.freeze("listeners");
    a.learn({ rows: [row(3)], gone: [2] });
    await expectAgreed("1:row 1 3:row 3 @40", a, c, d);
    expect([c.told.at(-1), d.told.at(-1)]).toEqual(["-2 3", "-2 3"]);
    // As after a change of which nothing was heard.
    await redis.talk(`HSET ${KEY}records 3 "{\\"version\\":7000,\\"value\\":{\\"id\\":3,\\"uploader\\":5}}"`);
    await redis.talk(`DEL ${KEY}log`, `LPUSH ${KEY}log 7000.4.unheard`, `PUBLISH ${KEY}changes anything`);
    await until(() => d.told.at(-1) === "3");
    expect(d.known().rows[1]).toEqual({ id: 3, uploader: 5 });
  });

  test("instances that learn all at once agree in the end on the last of each", async () => {
    const { redis, a, b } = await begin();
    const c = await openRedis(redis.url);
    for (let round = 0; round < 20; round++) {
      for (const [i, one] of [a, b, c].entries()) one.learn({ rows: [row(5, `${round}`), row(100 + 3 * round + i)] });
      await sleep(round % 3);
    }
    await until(() => [a, b, c].every(({ known }) => known().rows.length === 63));
    const stored = await redis.talk(`HGET ${KEY}records 5`);
    await until(() => new Set([a, b, c].map((one) => one.text())).size === 1);
    expect(stored).toContain(JSON.stringify(a.known().rows.find(({ id }) => id === 5)));
  });

  test("how far the walk is goes with a beat, however often it is saved", async () => {
    const { redis, a, b } = await begin();
    const number = async () => Number(/(\d+)\.\d+\./.exec(await redis.talk(`LINDEX ${KEY}log 0`))?.[1]);
    const before = await number();
    for (let at = 41; at <= 240; at++) a.learn({ walk: walked(at) });
    await expectAgreed("1:row 1 2:row 2 @240", a, b);
    expect((await number()) - before).toBe(1);
    // On a busy machine it may have read everything anew.
    expect(b.told.at(-1)).toMatch(/walk$/);
  });

  test("what was not written yet is written before it closes", async () => {
    const { a, b } = await begin();
    a.learn({ rows: [row(3)], walk: walked(41) });
    await a.store.close();
    a.learn({ rows: [row(4)] });
    await expectAgreed("1:row 1 2:row 2 3:row 3 @41", b);
    expect(b.events).toEqual([]);
  });

  test("thousands of rows are one change", async () => {
    const { redis, a, b } = await begin();
    const long = "x".repeat(1400);
    a.learn({ rows: Array.from({ length: 5000 }, (_, i) => row(i + 1, long)) });
    await until(() => b.known().rows.length === 5000);
    const c = await openRedis(redis.url);
    await until(() => c.known().rows.length === 5000);
    expect(c.known()).toEqual(a.known());
  });

  test("gateways of two legacies share no rows and no messages, and crawl on their own", async () => {
    const { redis, a, b } = await begin();
    const c = await openRedis(redis.url, { scope: "another" });
    await until(() => c.store.mayWalk());
    c.learn({ rows: [row(1, "another"), row(9)], walk: walked(7) });
    const d = await openRedis(redis.url, { scope: "another" });
    await expectAgreed("1:another 9:row 9 @7", c, d);
    a.learn({ gone: [1] });
    await expectAgreed("2:row 2 @40", a, b);
    await sleep(250);
    expect([a, b, c, d].map((one) => one.text())).toEqual([
      ...Array<string>(2).fill("2:row 2 @40"),
      ...Array<string>(2).fill("1:another 9:row 9 @7"),
    ]);
    expect(walkers([a, b, c, d])).toEqual([a, c]);
    expect([a, b, c, d].flatMap(({ events }) => events)).toEqual([]);
  });
});
