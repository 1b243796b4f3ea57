import { startRedis } from "../../../store/redis/redisServer.ts";
import { entry, moveOn } from "./moves.ts";
import { openRedis } from "./support.ts";
import { until } from "../../../support/waiting.ts";

/** The prefix of all keys. */
export const KEY = "catalog-gateway:1:state:migration:";

export const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A Redis, and two instances that agree on three moves and an expected difference. */
export const begin = async ({ keeps = false } = {}) => {
  const redis = await startRedis({ keeps });
  const [a, b] = [await openRedis(redis.url), await openRedis(redis.url)];
  await moveOn(a, "getThing", 1);
  await moveOn(a, "listThings", 2, "canary");
  await a.expect(entry("one"));
  await until(() => b.state().expected.length === 1);
  await moveOn(b, "getThing", 3, "modern");
  await until(() => a.state().audit.length === 3);
  return { redis, a, b };
};

/** As `stagesOf` has it. */
export const agreed = ["getThing modern 3", "listThings canary 2"];
