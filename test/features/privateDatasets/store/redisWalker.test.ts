import { expect, test } from "vitest";
import type { IndexRecord } from "../../../../src/features/privateDatasets/store/indexStore.ts";
import type { RedisStoreSettings } from "../../../../src/store/redis/redisStore.ts";
import { pathTo } from "../../../store/redis/pathTo.ts";
import { describeWithRedis, startRedis } from "../../../store/redis/redisServer.ts";
import { expectAgreed, openRedis, walkers } from "./instances.ts";
import { row, walked } from "./rows.ts";
import { sleep, until } from "../../../support/waiting.ts";

/** A Redis, and three instances, each on a way of its own. */
const three = async (settings: Partial<RedisStoreSettings<IndexRecord>> = {}) => {
  const redis = await startRedis();
  const ways = [await pathTo(redis.url), await pathTo(redis.url), await pathTo(redis.url)];
  const instances = await Promise.all(ways.map(({ url }) => openRedis(url, settings)));
  await until(() => walkers(instances).length === 1);
  const first = instances.findIndex(({ store }) => store.mayWalk());
  const [walker, way] = [instances[first], ways[first]];
  if (!walker || !way) throw new Error("nobody walks");
  return { redis, instances, walker, way, others: instances.filter((one) => one !== walker) };
};

describeWithRedis("one of the instances walks", () => {
  test("the same one, and no other, for as long as it is there", async () => {
    const { instances, walker } = await three();
    for (let i = 0; i < 30; i++) {
      expect(walkers(instances)).toEqual([walker]);
      await sleep(50);
    }
  });

  test("when it closes another one does at once, from where it was", async () => {
    const { walker, others } = await three();
    walker.learn({ rows: [row(1)], walk: walked(40) });
    await walker.store.close();
    expect(walker.store.mayWalk()).toBe(false);
    await until(() => walkers(others).length === 1);
    expect(walkers(others)[0]?.text()).toBe("1:row 1 @40");
  });

  test.each(["cut off", "frozen"])("when it is %s it stops before another one begins", async (how) => {
    const { instances, walker, way } = await three({ lease: 800 });
    if (how === "cut off") way.cut();
    else way.freeze("all");
    let hasStopped = false;
    await until(() => {
      const now = walkers(instances);
      expect(now.length).toBeLessThanOrEqual(1);
      hasStopped ||= !now.includes(walker);
      // The frozen one may be the next one again: it has other connections by then.
      return hasStopped && now.length === 1;
    });
  });

  test("what a crawler learned before it was cut off is kept, but not how far it was", async () => {
    const { instances, walker, way, others } = await three({ lease: 800 });
    way.cut();
    walker.learn({ rows: [row(3)], walk: walked(41) });
    await until(() => walkers(others).length === 1);
    walkers(others)[0]?.learn({ rows: [row(4)], walk: walked(60) });
    await expectAgreed("4:row 4 @60", ...others);
    way.mend();
    await expectAgreed("3:row 3 4:row 4 @60", ...instances);
  });

  test("nobody does without Redis", async () => {
    const { redis, instances } = await three({ lease: 800 });
    await redis.kill();
    await until(() => walkers(instances).length === 0);
    await sleep(200);
    expect(walkers(instances)).toEqual([]);
    await redis.start();
    await until(() => walkers(instances).length === 1);
  });
});
