import { expect, test } from "vitest";
import { describeWithRedis, startRedis } from "../../libraries/stores/redis/redisServer.ts";
import { administrator, nobody, owner } from "./people.ts";
import { edited, scanningThrough } from "./through.ts";
import { until } from "../../support/waiting.ts";

describeWithRedis("two gateways and a Redis", () => {
  /** Two over one legacy. */
  const two = async (REDIS_URL: string) => {
    const a = await scanningThrough(undefined, { REDIS_URL });
    const b = await scanningThrough(a.bed, { REDIS_URL });
    await Promise.all([a.scanned(), b.scanned()]);
    return { a, b };
  };

  test("one of them scans, and both list what it finds", async () => {
    const redis = await startRedis();
    const { a, b } = await two(redis.url);
    expect([a, b].filter(({ state }) => state()?.scansHere === true)).toHaveLength(1);
    expect([a, b].map(({ state }) => state()?.calls).toSorted((x = 0, y = 0) => x - y)[0]).toBe(0);
    for (const { list } of [a, b]) {
      expect((await list(administrator)).ids).toEqual([2, 3, 5, 6, 9]);
      expect((await list(owner)).ids).toEqual([2, 3, 9]);
      expect((await list(nobody)).ids).toEqual([2, 9]);
    }
  });

  test("a write through either reaches the other, no matter which one scans", async () => {
    const redis = await startRedis();
    const { a, b } = await two(redis.url);
    for (const [writer, other, id] of [
      [a, b, 2],
      [b, a, 9],
    ] as const) {
      const before = (await writer.list(administrator)).ids as number[];
      await other.list(administrator);
      await writer.legacy(administrator, "json/data/edit", edited(id, "<oml:visibility>private</oml:visibility>"));
      expect((await writer.list(administrator)).ids).toEqual(before);
      await until(async () => JSON.stringify((await other.list(administrator)).ids) === JSON.stringify(before));
      await writer.legacy(administrator, `json/data/${id}`, undefined, "DELETE");
      const left = before.filter((did) => did !== id);
      expect((await writer.list(administrator)).ids).toEqual(left);
      await until(async () => JSON.stringify((await other.list(administrator)).ids) === JSON.stringify(left));
    }
  });

  test("without Redis each lists what it knows; after a flush one of them scans again", async () => {
    const redis = await startRedis();
    const { a, b } = await two(redis.url);
    const calls = () => [a, b].reduce((sum, { state }) => sum + (state()?.calls ?? 0), 0);
    const before = calls();
    await redis.talk("FLUSHALL");
    await until(() => calls() > before);
    await Promise.all([a.scanned(), b.scanned()]);
    for (const { list } of [a, b]) await until(async () => String((await list(administrator)).ids) === "2,3,5,6,9");
    await redis.kill();
    for (const { list } of [a, b])
      expect((await list(administrator, "status/all/limit/50")).ids).toEqual([2, 3, 5, 6, 9]);
  });
});
