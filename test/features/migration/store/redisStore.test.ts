import { expect, test } from "vitest";
import { pathTo } from "../../../store/redis/pathTo.ts";
import { describeWithRedis, startRedis } from "../../../store/redis/redisServer.ts";
import { agreed, begin, wait } from "./instances.ts";
import { at, moveOn, moveTo, stage } from "./moves.ts";
import { openRedis, stagesOf } from "./support.ts";
import { until } from "../../../support/waiting.ts";

describeWithRedis("instances that share a Redis", () => {
  test("a change is soon reported to the other instances, not to its own", async () => {
    const { a, b } = await begin();
    expect([stagesOf(a.state()), stagesOf(b.state())]).toEqual([agreed, agreed]);
    expect(b.state()).toEqual(a.state());
    const [ofA, ofB] = [a.changes.length, b.changes.length];
    const began = performance.now();
    await moveOn(a, "getThing", 4);
    await until(() => b.changes.length > ofB);
    expect(performance.now() - began).toBeLessThan(5000);
    expect(b.changes.at(-1)).toBe(b.state());
    expect(b.state()).toEqual(a.state());
    await wait(1200);
    expect([a.changes.length, b.changes.length]).toEqual([ofA, ofB + 1]);
    expect([...a.events, ...b.events]).toEqual([]);
  });

  test("of two moves at the same moment one is made, and no audit line is lost", async () => {
    const { a, b } = await begin();
    for (let i = 0; i < 20; i++) {
      const seen = a.state().stages["getThing"]?.since;
      await until(() => b.state().stages["getThing"]?.since === seen);
      const done = await Promise.all([moveOn(a, "getThing", 10 + 2 * i), moveOn(b, "getThing", 11 + 2 * i)]);
      expect(done.filter(Boolean)).toHaveLength(1);
      await until(() => a.state().audit.length === 4 + i && b.state().audit.length === 4 + i);
      expect(b.state()).toEqual(a.state());
    }
  });

  test("an instance without the latest message moves the stage that another one showed", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const [a, b] = [await openRedis(path.url), await openRedis(redis.url)];
    path.freeze("listeners");
    await moveOn(b, "getThing", 1);
    const to = stage(2);
    expect(await a.move("getThing", to, moveTo("getThing", to), at(1))).toBe(true);
    // It receives the change that it had missed.
    expect(a.changes.map(stagesOf)).toEqual([["getThing shadow 1"]]);
  });

  test("a lost message is made up for", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const [a, b] = [await openRedis(path.url), await openRedis(redis.url)];
    path.freeze("listeners");
    await moveOn(b, "getThing", 1);
    await until(() => a.changes.length === 1);
    expect(a.state()).toEqual(b.state());
  });
});
