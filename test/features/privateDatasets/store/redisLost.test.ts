import { expect, test } from "vitest";
import { describeWithRedis, startRedis } from "../../sharedCache/redisServer.ts";
import { wait } from "../../sharedCache/support.ts";
import { agreed, expectAgreed, begin, KEY, openRedis } from "./instances.ts";
import { row, walked } from "./rows.ts";
import { until } from "../../../support/waiting.ts";

const RESTORED = 'private_index_store_restored {"rows":2}';

describeWithRedis("a Redis that has lost what it kept", () => {
  test.each([
    ["all of it", "FLUSHALL"],
    ["the rows", `DEL ${KEY}rows`],
    ["one row", `HDEL ${KEY}rows 2`],
    ["the version", `DEL ${KEY}version`],
    ["the walk", `DEL ${KEY}walk`],
  ])("%s: who walks puts it back, and nobody forgets anything", async (_, command) => {
    const { redis, a, b } = await begin();
    await redis.talk(command);
    await until(() => a.events.length + b.events.length > 0);
    await wait(250);
    expect([...a.events, ...b.events]).toEqual([RESTORED]);
    expect([a.text(), b.text()]).toEqual([agreed, agreed]);
    const c = await openRedis(redis.url);
    await expectAgreed(agreed, c);
    b.learn({ rows: [row(3)] });
    await expectAgreed(`1:row 1 2:row 2 3:row 3 @40`, a, b, c);
  });

  test("who knows nothing of it leaves it to those who do", async () => {
    const { redis, a, b } = await begin();
    await redis.kill();
    // It waits three of its beats for those who know, longer than they take to connect again.
    const c = await openRedis(redis.url, { beat: 1000 });
    await redis.start();
    await expectAgreed(agreed, c);
    expect([...a.events, ...b.events, ...c.events].filter((event) => event.includes("restored"))).toEqual([RESTORED]);
    expect([a.text(), b.text()]).toEqual([agreed, agreed]);
  });

  test("what is learned before it is put back is not taken for all there is", async () => {
    const { redis, a, b } = await begin();
    await redis.talk("FLUSHALL");
    b.learn({ rows: [row(3)] });
    await expectAgreed("1:row 1 2:row 2 3:row 3 @40", a, b);
    await wait(250);
    expect([a.text(), b.text()]).toEqual(Array(2).fill("1:row 1 2:row 2 3:row 3 @40"));
  });

  test("an empty one that nobody knows anything of is begun by one of them, and that is no event", async () => {
    const redis = await startRedis();
    const [a, b] = [await openRedis(redis.url), await openRedis(redis.url)];
    b.learn({ rows: [row(3)] });
    await expectAgreed("3:row 3 @0", a, b);
    expect(a.store.mayWalk()).not.toBe(b.store.mayWalk());
    expect([...a.events, ...b.events]).toEqual([]);
  });

  test.each([
    ["a text for the rows", [`DEL ${KEY}rows`, `SET ${KEY}rows foreign`], true],
    ["a hash for the version", [`DEL ${KEY}version`, `HSET ${KEY}version a b`], true],
    ["a list for the walk", [`DEL ${KEY}walk`, `LPUSH ${KEY}walk a`], true],
    ["garbage for the version", [`SET ${KEY}version garbage`], false],
  ])("%s: the same", async (_, commands, isTold) => {
    const { redis, a, b } = await begin();
    await redis.talk(...commands);
    await until(() => [...a.events, ...b.events].includes(RESTORED));
    const c = await openRedis(redis.url);
    await expectAgreed(agreed, a, b, c);
    const told = [...a.events, ...b.events].filter((event) => event !== RESTORED);
    expect(told.filter((event) => !/^private_index_store_unreadable .*WRONGTYPE/.test(event))).toEqual([]);
    expect(told.length > 0).toBe(isTold);
    expect(c.events).toEqual([]);
  });

  test("values that are none of ours are left out and told once; the next write takes their place", async () => {
    const { redis, a } = await begin();
    await redis.talk(`HSET ${KEY}rows 1 garbage 2 "{\\"id\\":3}"`, `SET ${KEY}walk "{\\"checkedUpTo\\":-1}"`);
    const c = await openRedis(redis.url);
    await until(() => c.told.length > 0);
    expect([c.told, c.events]).toEqual([
      ["all:"],
      ['private_index_store_unreadable {"fields":["1","2","walk"],"count":3}'],
    ]);
    a.learn({ rows: [row(1), row(2)], walk: walked(41) });
    await expectAgreed("1:row 1 2:row 2 @41", c);
    expect(c.events).toHaveLength(1);
  });
});
