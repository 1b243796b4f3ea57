import { expect, test } from "vitest";
import { describeWithRedis, startRedis } from "../../store/redis/redisServer.ts";
import { until } from "../../support/waiting.ts";
import { staged } from "./support.ts";

const KEY = "AD000000000000000000000000000000";

describeWithRedis("two gateways with one Redis and one modern", () => {
  test("each counts what the other has compared, and shows its samples without keys", async () => {
    const redis = await startRedis();
    const stages = { getDataset: { stage: "shadow", share: 100 } } as const;
    const environment = { REDIS_URL: redis.url };
    const one = await staged(stages, { environment, faults: [{ endpoint: "getDataset", fault: "otherValue" }] });
    const other = await staged(stages, { environment: { ...environment, MODERN_URL: one.modern.url } });
    await until(() => one.migration.gateways() === 2 && other.migration.gateways() === 2);
    await one.ask("/datasets/61", { authorization: `Bearer ${KEY}` });
    await other.ask("/datasets/2");
    for (const { compared, operate, migration } of [one, other]) {
      await compared("getDataset", 2);
      const { body } = await operate("GET", "/stages/getDataset");
      expect(body).toMatchObject({ parity: { compared: 2 } });
      await until(() => migration.viewOf("getDataset").rate > 0);
      const shown = JSON.stringify((await operate("GET", "/differences")).body);
      expect(shown).toContain("datasets/61");
      expect(shown).not.toContain(KEY);
    }
  });
});
