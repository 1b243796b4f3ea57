import { expect, test } from "vitest";
import { describeWithRedis, startRedis } from "../../../store/redis/redisServer.ts";
import { agreed, expectAgreed, begin, KEY, openRedis } from "./instances.ts";
import { row, walked } from "./rows.ts";
import { sleep, until } from "../../../support/waiting.ts";

const RESTORED = 'private_index_store_restored {"rows":2}';

describeWithRedis("a Redis that has lost what it kept", () => {
  test.each([
    ["all of it", ["FLUSHALL"], 2],
    ["the records", [`DEL ${KEY}records`], 2],
    ["one row", [`HDEL ${KEY}records 2`], 1],
    ["the walk and the log", [`HDEL ${KEY}records walk`, `DEL ${KEY}log`], 0],
  ])("%s: it is put back, and nobody forgets anything", async (_, commands, rows) => {
    const { redis, a, b } = await begin();
    await redis.talk(...commands);
    await until(() => a.events.length + b.events.length > 0);
    await sleep(250);
    expect([...a.events, ...b.events]).toEqual([`private_index_store_restored {"rows":${rows}}`]);
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
    const c = await openRedis(redis.url, { interval: 1000 });
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
    await sleep(250);
    expect([a.text(), b.text()]).toEqual(Array(2).fill("1:row 1 2:row 2 3:row 3 @40"));
  });

  test("one gateway begins an empty one, and reports no event", async () => {
    const redis = await startRedis();
    const [a, b] = [await openRedis(redis.url), await openRedis(redis.url)];
    b.learn({ rows: [row(3)] });
    await expectAgreed("3:row 3 @0", a, b);
    await until(() => a.store.mayWalk() !== b.store.mayWalk());
    expect([...a.events, ...b.events]).toEqual([]);
  });

  test.each([
    ["a text for the records", [`DEL ${KEY}records`, `SET ${KEY}records foreign`]],
    ["a hash for the log", [`DEL ${KEY}log`, `HSET ${KEY}log a b`]],
  ])("%s: the same", async (_, commands) => {
    const { redis, a, b } = await begin();
    await redis.talk(...commands);
    await until(() => [...a.events, ...b.events].includes(RESTORED));
    const c = await openRedis(redis.url);
    await expectAgreed(agreed, a, b, c);
    const reported = [...a.events, ...b.events].filter((event) => event !== RESTORED);
    expect(reported.filter((event) => !/^private_index_store_unreadable .*WRONGTYPE/.test(event))).toEqual([]);
    expect(reported.length).toBeGreaterThan(0);
    expect(c.events).toEqual([]);
  });

  test("a log that is none of ours is begun anew, and that is no event", async () => {
    const { redis, a, b } = await begin();
    await redis.talk(`DEL ${KEY}log`, `LPUSH ${KEY}log garbage`);
    const c = await openRedis(redis.url);
    await expectAgreed(agreed, a, b, c);
    b.learn({ rows: [row(3)] });
    await expectAgreed(`1:row 1 2:row 2 3:row 3 @40`, a, b, c);
    expect([...a.events, ...b.events, ...c.events]).toEqual([]);
  });

  test("unreadable values are left out and reported once; the next write replaces them", async () => {
    const { redis, a } = await begin();
    await redis.talk(
      `HSET ${KEY}records 1 garbage 2 "{\\"version\\":1,\\"value\\":{\\"id\\":3}}"`,
      `HSET ${KEY}records walk "{\\"version\\":1,\\"value\\":{\\"checkedUpTo\\":-1}}"`,
    );
    const c = await openRedis(redis.url);
    await until(() => c.events.length > 0);
    expect([c.told, c.text()]).toEqual([[], "@0"]);
    expect(c.events[0]).toMatch(/^private_index_store_unreadable \{"fields":\[.*"count":3\}/);
    a.learn({ rows: [row(1), row(2)], walk: walked(41) });
    await expectAgreed("1:row 1 2:row 2 @41", c);
    expect(c.events).toHaveLength(1);
  });
});
