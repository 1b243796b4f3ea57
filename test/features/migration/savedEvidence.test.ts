import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { StageView } from "../../../src/features/migration/views.ts";
import { startSampleLegacy } from "../../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { startStandIn } from "../../standIn/startStandIn.ts";
import { describeWithRedis, startRedis } from "../../store/redis/redisServer.ts";
import { startProgram } from "../../support/program.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { until } from "../../support/waiting.ts";
import { staged } from "./support.ts";

const wrong = { endpoint: "getDataset", fault: "otherValue" } as const;
const STAGES = '{"getDataset":{"stage":"shadow"}}';

/** The program, which has one `DATA_DIR` all the time. */
const gateways = async () => {
  const legacy = await startSampleLegacy();
  const modern = await startStandIn({ legacyUrl: legacy.url, faults: [wrong] });
  const DATA_DIR = temporaryFolder();
  const run = async (MODERN_URL: string) => {
    const { port, adminPort, stop } = await startProgram({ LEGACY_URL: legacy.url, MODERN_URL, DATA_DIR, STAGES });
    const parity = async () =>
      ((await (await fetch(`http://127.0.0.1:${adminPort}/stages/getDataset`)).json()) as StageView).parity;
    return {
      parity,
      /** Asks, and waits until it was compared. */
      async compare(id: number) {
        const { comparisons } = await parity();
        await fetch(`http://127.0.0.1:${port}/v1/datasets/${id}`);
        await until(async () => (await parity()).comparisons > comparisons);
      },
      stop,
    };
  };
  const close = async () => {
    await modern.close();
    await legacy.close();
  };
  return { run, modern, DATA_DIR, close };
};

test("evidence outlives the process, but neither another modern nor a forged record", async () => {
  const { run, modern, DATA_DIR, close } = await gateways();
  const first = await run(modern.url);
  await first.compare(61);
  await first.compare(2);
  await first.stop();

  const second = await run(modern.url);
  expect(await second.parity()).toMatchObject({ compared: 2, unexplained: 2, comparisons: 0 });
  modern.use([]);
  await second.compare(61);
  expect(await second.parity()).toMatchObject({ compared: 2, equal: 1, unexplained: 1 });
  await second.stop();

  const other = await run(modern.url.replace("127.0.0.1", "localhost"));
  expect(await other.parity()).toMatchObject({ compared: 0 });
  await other.stop();

  const third = await run(modern.url);
  expect(await third.parity()).toMatchObject({ compared: 2, equal: 1, unexplained: 1 });
  await third.stop();

  const database = new DatabaseSync(join(DATA_DIR, "catalog-gateway.sqlite"));
  const forged = database.prepare("UPDATE entries SET value = replace(value, 'requests\":\"', 'requests\":\"?')").run();
  expect(forged.changes).toBeGreaterThan(0);
  database.close();
  const last = await run(modern.url);
  expect(await last.parity()).toMatchObject({ compared: 0 });
  await last.stop();
  await close();
});

describeWithRedis("two gateways with one Redis and one modern", () => {
  test("each counts what the other has compared, and a mended request once", async () => {
    const redis = await startRedis();
    const stages = { getDataset: { stage: "shadow", share: 100 } } as const;
    const parts = { times: { recheck: 20, look: 20, save: 20 } };
    const environment = { REDIS_URL: redis.url };
    const one = await staged(stages, { environment, parts, faults: [wrong] });
    const other = await staged(stages, { environment: { ...environment, MODERN_URL: one.modern.url }, parts });
    const parities = () => [one, other].map(({ migration }) => migration.viewOf("getDataset").parity);
    await one.ask("/datasets/61");
    await other.ask("/datasets/2");
    await until(() => parities().every(({ unexplained }) => unexplained === 2));
    one.modern.use([]);
    await other.ask("/datasets/61");
    await until(() => parities().every(({ unexplained }) => unexplained === 1));
    const mended = { compared: 2, unexplained: 1, equal: 1 };
    expect(parities()).toMatchObject([mended, mended]);
  });
});
