import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { describeWithRedis, startRedis } from "../../libraries/stores/redis/redisServer.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { until } from "../../support/waiting.ts";
import { operatorsOf } from "../console/page/operators.ts";
import { despite, staged, type Staged } from "./support.ts";

const wrong = { endpoint: "getDataset", fault: "otherValue" } as const;
const inShadow = { getDataset: { stage: "shadow", share: 100 } } as const;
const parityOf = ({ migration }: Staged) => migration.viewOf("getDataset").parity;
const who = { by: "me", why: "it went well", despite };

test("stages and evidence outlive a restart, but no other modern and no forged record", async () => {
  const DATA_DIR = temporaryFolder();
  const first = await staged(inShadow, { faults: [wrong], environment: { DATA_DIR } });
  const restart = (MODERN_URL = first.modern.url) => staged(inShadow, { environment: { DATA_DIR, MODERN_URL } });
  for (const id of [61, 2]) await first.ask(`/datasets/${id}`);
  await first.compared("getDataset", 2);
  expect(await first.move("getStudy", { stage: "canary", share: 10, ...who })).toMatchObject({ status: 200 });
  await first.close();

  const second = await restart();
  expect(second.migration.stages.of("getStudy")).toMatchObject({
    stage: "canary",
    share: 10,
    by: "me",
    why: "it went well",
  });
  expect(parityOf(second)).toMatchObject({ compared: 2, unexplained: 2 });
  first.modern.use([]);
  await second.ask("/datasets/61");
  await second.compared("getDataset", 1);
  expect(parityOf(second)).toMatchObject({ compared: 2, equal: 1, unexplained: 1 });
  await second.close();

  const other = await restart(first.modern.url.replace("127.0.0.1", "localhost"));
  expect(parityOf(other)).toMatchObject({ compared: 0 });
  await other.close();
  const third = await restart();
  expect(parityOf(third)).toMatchObject({ compared: 2, equal: 1, unexplained: 1 });
  await third.close();

  const database = new DatabaseSync(join(DATA_DIR, "catalog-gateway.sqlite"));
  const forged = database.prepare("UPDATE entries SET value = replace(value, 'requests\":\"', 'requests\":\"?')").run();
  expect(forged.changes).toBeGreaterThan(0);
  database.close();
  expect(parityOf(await restart())).toMatchObject({ compared: 0 });
});

describeWithRedis("two gateways with one Redis", () => {
  test("no endpoint moves while Redis is away, and the stages stay", async () => {
    const redis = await startRedis({ keeps: true });
    const { move, migration } = await staged({}, { environment: { REDIS_URL: redis.url } });
    expect(await move("getDataset", { stage: "shadow", share: 10 })).toMatchObject({ status: 200 });
    await redis.kill();
    expect(await move("getDataset", { stage: "modern", despite })).toEqual({
      status: 503,
      body: {
        detail:
          "It could not be stored. If it is stored late, it may show for a moment and is taken back. Look at /audit before you try again.",
      },
    });
    expect(migration.stages.of("getDataset")).toMatchObject({ stage: "shadow", share: 10 });
    await redis.start();
    await until(async () => (await move("getDataset", { stage: "canary", share: 5, despite })).status === 200);
  });

  test("the configured stages are in force after Redis has lost its data, with a warning", async () => {
    const redis = await startRedis();
    const on = async () => {
      const opened = await staged({ getStudy: { stage: "shadow" } }, { environment: { REDIS_URL: redis.url } });
      const dependency = () => opened.gateway.core.dependencies.states().find(({ name }) => name === "stages");
      return { ...opened, dependency, at: (endpoint = "getDataset") => opened.migration.stages.of(endpoint) };
    };
    const [a, b] = [await on(), await on()];
    const none = "Redis has none that was set at run time: the stages of the setting STAGES are in force";
    const line = "stages: getStudy shadow, 100 % mirrored; all others legacy";
    expect(await a.startLine()).toBe(`${line}; ${none}`);
    expect(a.dependency()).toMatchObject({ state: "ok", why: none });
    expect(await a.move("getDataset", { stage: "canary", share: 25, ...who })).toMatchObject({ status: 200 });
    expect(await a.move("getSetup", { stage: "shadow", share: 10, ...who })).toMatchObject({ status: 200 });
    expect(await a.move("getTask", { stage: "shadow", share: 10, ...who })).toMatchObject({ status: 200 });
    await until(() => b.at().share === 25 && b.at("getTask").share === 10);
    expect(b.dependency()).toEqual({ name: "stages", state: "ok", since: expect.any(String) as string });

    await redis.talk("FLUSHALL");
    for (const { at, dependency, observer } of [a, b]) {
      await until(() => at().stage === "legacy");
      expect(at()).toMatchObject({ by: "configuration", why: "Redis has lost the stage that was set" });
      expect(at("getStudy")).toMatchObject({ stage: "shadow" });
      expect(observer.counts()["stages_lost"]).toBe(1);
      const why = "getDataset had canary, 25 % of callers; getSetup, getTask had shadow, 10 % mirrored";
      await until(() => dependency()?.state === "failed");
      expect(dependency()).toMatchObject({ why });
    }
    // A move of one endpoint to any stage leaves the other lost.
    expect(await b.move("getDataset", { stage: "canary", share: 5, ...who })).toMatchObject({ status: 200 });
    // So does a move to where the endpoint is already: it need not be set again.
    expect(await b.move("getTask", { stage: "legacy", ...who })).toMatchObject({ status: 200 });
    await until(() => a.at().share === 5 && a.at("getTask").by === "me");
    for (const { dependency } of [a, b])
      expect(dependency()).toMatchObject({ state: "failed", why: "getSetup had shadow, 10 % mirrored" });
    expect(await (await operatorsOf(a)).markup()).toMatch(
      /have been lost<\/strong[^]*getSetup had shadow, 10 % mirrored\): the stages of the setting STAGES are in force[^]*data-all="lost"[^>]*data-will="[^"]*:\s+getSetup: shadow, 10 % mirrored"/,
    );
    expect(await b.operate("POST", "/stages", { ...who, stage: "lost" })).toEqual({
      status: 200,
      body: { moved: ["getSetup"] },
    });
    await until(() => a.at("getSetup").share === 10);
    for (const { dependency, migration } of [a, b]) {
      expect(dependency()).toMatchObject({ state: "ok" });
      expect(dependency()?.why).toBeUndefined();
      // The moves from before the loss are in the audit log again.
      expect(migration.stages.audit().map(({ endpoint, to }) => `${endpoint} ${to.share}`)).toEqual([
        "getSetup 10",
        "getTask 100",
        "getDataset 5",
        "getTask 10",
        "getSetup 10",
        "getDataset 25",
      ]);
    }
  });

  test("each gateway counts what the other has compared, and a fixed request once", async () => {
    const redis = await startRedis();
    const parts = { times: { recheck: 20, look: 20, save: 20 } };
    const environment = { REDIS_URL: redis.url };
    const first = await staged(inShadow, { environment, parts, faults: [wrong] });
    const other = await staged(inShadow, { environment: { ...environment, MODERN_URL: first.modern.url }, parts });
    const parities = () => [first, other].map(parityOf);
    /** Asks until both count so many: a comparison for which a busy machine had no time is not made up for. */
    const untilUnexplained = (count: number, ask: () => Promise<unknown>) =>
      until(async () => {
        if (parities().every(({ unexplained }) => unexplained === count)) return true;
        await ask();
        return false;
      });
    await untilUnexplained(2, () => Promise.all([first.ask("/datasets/61"), other.ask("/datasets/2")]));
    // A comparison of the second dataset may still be under way: that dataset stays wrong.
    first.modern.use([{ ...wrong, within: "/datasets/2" }]);
    await untilUnexplained(1, () => other.ask("/datasets/61"));
    const fixed = { compared: 2, unexplained: 1, equal: 1 };
    expect(parities()).toMatchObject([fixed, fixed]);
  });
});
