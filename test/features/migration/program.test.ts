import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startStandIn } from "../../standIn/startStandIn.ts";
import type { StageView } from "../../../src/features/migration/views.ts";
import { start } from "../../serve/support.ts";
import { describeWithRedis, startRedis } from "../../store/redis/redisServer.ts";
import { startSampleLegacy } from "../../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { settingsOf } from "../../support/settings.ts";
import { until } from "../../support/waiting.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

let legacy: Awaited<ReturnType<typeof startSampleLegacy>>;
let modern: Awaited<ReturnType<typeof startStandIn>>;
beforeAll(async () => {
  legacy = await startSampleLegacy();
  modern = await startStandIn({ legacyUrl: legacy.url });
});
afterAll(async () => {
  await modern.close();
  await legacy.close();
});

/** The program between both sides, and what its operators see. */
const gateway = async (environment: Record<string, string>) => {
  const program = start({ LEGACY_URL: legacy.url, MODERN_URL: modern.url, LOG_LEVEL: "info", ...environment });
  await program.listening();
  const admin = /operators: (\S+)/.exec(program.output.out)?.[1] as string;
  const stage = async (endpoint = "getDataset") =>
    (await (await fetch(`${admin}/stages/${endpoint}`)).json()) as StageView;
  const move = async (to: object) => {
    const response = await fetch(`${admin}/stages/getDataset`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(to),
    });
    return { status: response.status, body: (await response.json()) as StageView };
  };
  const stop = async () => {
    program.child.kill("SIGTERM");
    return program.ended;
  };
  const dependency = async (wanted: string) => {
    const { dependencies } = (await (await fetch(`${admin}/readyz?verbose`)).json()) as {
      dependencies: { name: string; state?: string; why?: string }[];
    };
    return dependencies.find(({ name }) => name === wanted);
  };
  return { ...program, stage, move, stop, dependency };
};

const despite = "a test compares nothing";

test("the start says who stays with legacy; without modern nothing moves", async () => {
  const [alone, staged] = await Promise.all([
    gateway({ MODERN_URL: "" }),
    gateway({ STAGES: '{"getDataset":{"stage":"canary","share":5}}' }),
  ]);
  await until(() => alone.output.out.split("\n").length > 2);
  expect(alone.output.out).toContain("every endpoint stays with legacy: MODERN_URL is not set");
  expect((await alone.move({ stage: "shadow" })).status).toBe(422);
  await until(() => staged.output.out.split("\n").length > 2);
  expect(staged.output.out).toContain("stages: getDataset canary, 5 % of callers; all others legacy");
});

test("what was set at run time survives a restart, and a kill", async () => {
  const DATA_DIR = temporaryFolder();
  const first = await gateway({ DATA_DIR });
  expect((await first.move({ stage: "canary", share: 10, by: "me", why: "it went well", despite })).status).toBe(200);
  expect(await first.stop()).toBe(0);
  const second = await gateway({ DATA_DIR });
  expect(await second.stage()).toMatchObject({ stage: "canary", share: 10, by: "me", why: "it went well" });
  await second.move({ stage: "shadow", share: 50 });
  second.child.kill("SIGKILL");
  await second.ended;
  const third = await gateway({ DATA_DIR });
  expect(await third.stage()).toMatchObject({ stage: "shadow", share: 50 });
});

test("the configuration file is read again when it changes and at SIGHUP", async () => {
  const CONFIG = join(temporaryFolder(), "gateway.json");
  const write = (content: unknown) => {
    writeFileSync(`${CONFIG}.new`, typeof content === "string" ? content : JSON.stringify(content));
    renameSync(`${CONFIG}.new`, CONFIG);
  };
  write({ STAGES: { getDataset: { stage: "shadow" } } });
  const { stage, output, child } = await gateway({ CONFIG });
  expect((await stage()).stage).toBe("shadow");
  write({ STAGES: { getDataset: { stage: "canary", share: 5 } }, MAX_CONNECTIONS: 10 });
  await until(async () => (await stage()).stage === "canary");
  expect(await stage()).toMatchObject({ share: 5, by: "configuration" });
  await until(() => output.error.includes('"event":"restart_needed","settings":["MAX_CONNECTIONS"]'));
  for (const [wrong, told] of [
    ["{", "is not valid JSON"],
    [{ STAGES: { getNothing: { stage: "shadow" } } }, "STAGES: unknown endpoint"],
    [{ EXPECTED_DIFFERENCES: "/nowhere/at/all" }, "EXPECTED_DIFFERENCES: /nowhere/at/all cannot be read"],
  ] as const) {
    write(wrong);
    child.kill("SIGHUP");
    await until(() => output.error.includes(told));
    expect(await stage()).toMatchObject({ stage: "canary", share: 5 });
  }
  write({ STAGES: { getDataset: { stage: "legacy" } }, MAX_CONNECTIONS: 10 });
  child.kill("SIGHUP");
  await until(async () => (await stage()).stage === "legacy");
});

test("--check asks both sides; --strict fails for an ended or idle ledger entry", async () => {
  const file = join(temporaryFolder(), "ledger.json");
  const entry = { endpoint: "getDataset", path: "/version", kind: "type", reason: "known", owner: "us" };
  writeFileSync(
    file,
    JSON.stringify([
      { ...entry, id: "ended", until: "2020-01-01" },
      { ...entry, id: "never", until: "2999-01-01" },
    ]),
  );
  const settings = { LEGACY_URL: legacy.url, MODERN_URL: modern.url, EXPECTED_DIFFERENCES: file };
  const [lenient, strict] = [start(settings, "--check"), start(settings, "--check", "--strict")];
  expect([await lenient.ended, lenient.output.out]).toEqual([
    0,
    expect.stringContaining("ok    modern getDataset first"),
  ]);
  expect(lenient.output.out).toContain("ended: it ended on 2020-01-01");
  expect([await strict.ended, strict.output.out]).toEqual([
    1,
    expect.stringMatching(/FAIL .*ended: it ended on 2020-01-01\nFAIL .*never: it allows nothing/),
  ]);
});

test("--check compares modern with legacy, and the mirror sends no requests", async () => {
  const faults = [{ endpoint: "getDataset", fault: "otherValue", path: "/version" } as const];
  const wrong = await startStandIn({ legacyUrl: legacy.url, faults });
  const STAGES = '{"getDataset":{"stage":"modern"},"getSetup":{"stage":"canary"}}';
  const checked = start({ LEGACY_URL: legacy.url, MODERN_URL: wrong.url, STAGES }, "--check");
  expect([await checked.ended, checked.output.out]).toEqual([
    1,
    expect.stringContaining("FAIL  modern getDataset first    value at /version\n"),
  ]);
  expect(wrong.asked()).toMatchObject({ getDataset: 2, getSetup: 2 });
  await wrong.close();
});

test("--check takes the reference implementation for what the ledger says it is", async () => {
  const reference = await startStandIn({ legacyUrl: legacy.url, reference: true });
  const checked = start({ LEGACY_URL: legacy.url, MODERN_URL: reference.url }, "--check");
  expect([await checked.ended, checked.output.out]).toEqual([0, expect.not.stringContaining("FAIL")]);
  expect(checked.output.out.match(/ok {4}modern /g)?.length).toBeGreaterThan(10);
  await reference.close();
});

test.each<[Record<string, string>, string]>([
  [{ MODERN_URL: "modern.example" }, "MODERN_URL: "],
  [{ STAGES: '{"getDataset":{"stage":"beta"}}' }, "STAGES.getDataset.stage: "],
  [{ MODERN_TIMEOUT_MS: "60000" }, "MODERN_TIMEOUT_MS: 60000 given; allowed is less than TOTAL_TIMEOUT_MS (60000)"],
  [{ FORCE_BACKEND: "perhaps" }, 'FORCE_BACKEND: "perhaps" given in the environment; allowed is true or false'],
])("%j is refused", (environment, message) => {
  expect(settingsOf({ LEGACY_URL: legacy.url, MODERN_URL: modern.url, ...environment })).toEqual({
    errors: [expect.stringContaining(message)],
  });
});

test.each([
  [{ STAGES: '{"getDataset":{"stage":"beta"}}' }, "STAGES.getDataset.stage: "],
  [
    { MODERN_URL: "http://localhost:8642", PORT: "8642" },
    "where the gateway itself listens (HOST 127.0.0.1, PORT 8642)",
  ],
  [{ EXPECTED_DIFFERENCES: "/nowhere/at/all" }, "EXPECTED_DIFFERENCES: /nowhere/at/all cannot be read (ENOENT)"],
  [{ DATA_DIR: "/proc/self/status" }, "DATA_DIR: "],
])("%j stops the start", async (environment, message) => {
  const { ended, output } = start({ LEGACY_URL: legacy.url, MODERN_URL: modern.url, ...environment });
  expect([await ended, output.error]).toEqual([2, expect.stringContaining(message)]);
});

describeWithRedis("two gateways with one Redis", () => {
  test("agree on what was set, also after a restart", async () => {
    const redis = await startRedis({ keeps: true });
    const [a, b] = await Promise.all([gateway({ REDIS_URL: redis.url }), gateway({ REDIS_URL: redis.url })]);
    expect((await a.move({ stage: "canary", share: 25, by: "me", why: "both", despite })).status).toBe(200);
    await until(async () => (await b.stage()).share === 25);
    expect(await b.stage()).toMatchObject({ stage: "canary", by: "me", why: "both" });
    await a.stop();
    const again = await gateway({ REDIS_URL: redis.url });
    expect(await again.stage()).toMatchObject({ stage: "canary", share: 25 });
  });

  test("move no endpoint while it is away, say so, and keep their state", async () => {
    const redis = await startRedis({ keeps: true });
    const { move, stage } = await gateway({ REDIS_URL: redis.url });
    expect(await move({ stage: "shadow", share: 10 })).toMatchObject({ status: 200 });
    await redis.kill();
    expect(await move({ stage: "modern", despite })).toEqual({
      status: 503,
      body: { detail: "It could not be stored, so nothing has changed." },
    });
    expect(await stage()).toMatchObject({ stage: "shadow", share: 10 });
    await redis.start();
    await until(async () => (await move({ stage: "canary", share: 5, despite })).status === 200);
  });

  test("fall back to the configured stages where Redis has lost its data, and say so", async () => {
    const redis = await startRedis();
    const settings = { REDIS_URL: redis.url, STAGES: '{"getStudy":{"stage":"shadow"}}' };
    const [a, b] = await Promise.all([gateway(settings), gateway(settings)]);
    const none = "Redis has none that was set at run time: those of STAGES hold";
    await until(() => a.output.out.includes(`stages: getStudy shadow, 100 % mirrored; all others legacy; ${none}`));
    expect(await a.dependency("stages")).toMatchObject({ state: "ok", why: none });
    expect((await a.move({ stage: "canary", share: 25, by: "me", why: "both", despite })).status).toBe(200);
    await until(async () => (await b.stage()).share === 25);
    await until(async () => (await b.dependency("stages"))?.why === undefined);
    expect(await b.dependency("stages")).toEqual({ name: "stages", state: "ok", since: expect.any(String) as string });

    await redis.talk("FLUSHALL");
    for (const { stage, dependency, output } of [a, b]) {
      await until(async () => (await stage()).stage === "legacy");
      expect(await stage()).toMatchObject({ by: "configuration", why: "Redis has lost the stage that was set" });
      expect(await stage("getStudy")).toMatchObject({ stage: "shadow" });
      await until(() => /"event":"stages_lost","endpoints":\["getDataset"\]/.test(output.error));
      await until(async () => (await dependency("stages"))?.state === "failed");
      expect(await dependency("stages")).toMatchObject({ why: expect.stringContaining("Redis has lost") });
    }
    expect((await b.move({ stage: "canary", share: 5, by: "me", why: "again", despite })).status).toBe(200);
    await until(async () => (await a.stage()).share === 5);
    await until(async () => (await a.dependency("stages"))?.state === "ok");
  });
});
