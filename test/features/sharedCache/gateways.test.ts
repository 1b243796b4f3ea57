import { expect, onTestFinished, test, vi } from "vitest";
import { alice, cachedGateway, held, kept, markOf, type ScriptedLegacy, scriptedLegacy } from "../../cache/support.ts";
import { pathTo } from "../../store/redis/pathTo.ts";
import { describeWithRedis, startRedis } from "../../store/redis/redisServer.ts";
import { settled, until } from "../../support/waiting.ts";

const path = kept.getDataset;

/** Two gateways over one legacy that share by one Redis. */
const two = async (legacy: ScriptedLegacy, url: string) => {
  const [a, b] = [await cachedGateway({ REDIS_URL: url }, legacy), await cachedGateway({ REDIS_URL: url }, legacy)];
  const bothInStep = () => until(() => [a, b].every(({ services }) => services.cache.sharing() === "in step"));
  await bothInStep();
  return { a, b, bothInStep };
};

/** From now on Redis answers in time, however busy the machine is. */
const stopClock = () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
};

const tag = { data_id: 61, tag: "a" };

describeWithRedis("two gateways and a Redis", () => {
  test("one serves the other's answers byte for byte; legacy gets one request", async () => {
    const redis = await startRedis();
    const legacy = await scriptedLegacy();
    const { a, b } = await two(legacy, redis.url);
    stopClock();
    const stored = async () => Number(/^\*(\d+)/.exec(await redis.talk("KEYS catalog-gateway:1:e:*"))?.[1]);
    for (const target of [...Object.values(kept), "/v1/datasets/777"]) {
      const before = await stored();
      const first = await a.ask(target);
      // It is shared in the background.
      await until(async () => (await stored()) > before);
      const asked = legacy.asked.length;
      const second = await b.ask(target);
      expect([second.status, second.body, second.headers.get("etag")]).toEqual([
        200,
        first.body,
        first.headers.get("etag"),
      ]);
      expect(legacy.asked.length).toBe(asked);
    }
  });

  test("nothing that was fetched with a key is shared", async () => {
    const redis = await startRedis();
    const legacy = await scriptedLegacy();
    const { a, b } = await two(legacy, redis.url);
    await a.ask(path, a.as(alice));
    await settled();
    expect(await redis.talk("KEYS catalog-gateway:1:e:*")).toMatch(/^\*0/);
    expect((await b.ask(path)).how).toMatch(/^fwd=uri-miss/);
  });

  test("a write through one is seen through the other at once", async () => {
    const redis = await startRedis();
    const legacy = await scriptedLegacy();
    const { a, b } = await two(legacy, redis.url);
    stopClock();
    for (let i = 0; i < 10; i++) {
      await a.ask(path);
      await b.ask(path);
      const writer = i % 2 ? a : b;
      const reader = i % 2 ? b : a;
      const form = { method: "POST", body: new URLSearchParams({ data_id: "61", tag: "a" }) };
      const { status } =
        i % 4 < 2
          ? await writer.post("/v1/datasets/tag", tag, writer.as(alice))
          : await writer.ask(`/api/v1/json/data/tag?api_key=${alice}`, {}, form);
      expect(status).toBe(200);
      const { body } = await reader.ask(path);
      expect(markOf(body)).toBe(`nobody ${legacy.version}`);
    }
  });

  test("a read that was running in one when the other wrote is cached by neither", async () => {
    const redis = await startRedis();
    const legacy = await scriptedLegacy();
    const { a, b } = await two(legacy, redis.url);
    const { promise, release } = held();
    legacy.gate = promise;
    const reading = a.ask(path);
    await until(() => legacy.asked.length === 1);
    legacy.gate = undefined;
    await b.post("/v1/datasets/tag", tag, b.as(alice));
    release();
    expect(markOf((await reading).body)).toBe("nobody 1");
    for (const gateway of [a, b]) expect(markOf((await gateway.ask(path)).body)).toBe("nobody 2");
  });

  test("what was cached before Redis was reached is not served after another's write", async () => {
    const redis = await startRedis();
    const way = await pathTo(redis.url);
    way.cut();
    const legacy = await scriptedLegacy();
    const a = await cachedGateway({ REDIS_URL: way.url }, legacy);
    const b = await cachedGateway({ REDIS_URL: redis.url }, legacy);
    await until(() => b.services.cache.sharing() === "in step");
    await a.ask(path);
    await b.post("/v1/datasets/tag", tag, b.as(alice));
    way.mend();
    await until(() => a.services.cache.sharing() === "in step");
    expect(markOf((await a.ask(path)).body)).toBe(`nobody ${legacy.version}`);
  });

  test("a refresh that is refused takes it from the other's reach as well", async () => {
    const redis = await startRedis();
    const legacy = await scriptedLegacy();
    const { a, b } = await two(legacy, redis.url);
    await a.ask(path);
    legacy.privateTo = alice;
    expect((await a.ask(path, { "Cache-Control": "no-cache" })).status).toBe(403);
    expect((await b.ask(path)).status).toBe(403);
  });

  test.each(["replica", "full disk"] as const)(
    "with a Redis that refuses writes (%s) no gateway serves what another one changed",
    async (as) => {
      const redis = await startRedis();
      const legacy = await scriptedLegacy();
      const { a, b, bothInStep } = await two(legacy, redis.url);
      await a.ask(path);
      await until(async () => (await b.ask(path)).how.startsWith("hit"));
      await redis.refuseWrites(as);
      await a.post("/v1/datasets/tag", tag, a.as(alice));
      await until(() => b.services.cache.sharing() === "cut off");
      expect(markOf((await b.ask(path)).body)).toBe(`nobody ${legacy.version}`);
      const states = b.services.dependencies.states();
      expect(states.find(({ name }) => name === "redis")).toMatchObject({
        state: "failed",
        why: expect.stringMatching(/^invalidations may be missed: (READONLY|MISCONF)/) as string,
      });
      await redis.takeWrites();
      await bothInStep();
      for (const gateway of [a, b]) expect(markOf((await gateway.ask(path)).body)).toBe(`nobody ${legacy.version}`);
    },
  );

  test("Redis killed under load: no error, no long wait, nothing before the last write", async () => {
    const redis = await startRedis({ keeps: true });
    const legacy = await scriptedLegacy();
    const { a, b, bothInStep } = await two(legacy, redis.url);
    const targets = Array.from({ length: 20 }, (_, i) => `/v1/datasets/${i + 50}`);
    const wrong: string[] = [];
    let slowest = 0;
    let answers = 0;
    const state = { running: true, told: 1 };
    const load = async (gateway: typeof a) => {
      for (let i = 0; state.running; i++) {
        const { told } = state;
        const began = performance.now();
        const { status, body, how } = await gateway.ask(targets[i % targets.length] as string);
        slowest = Math.max(slowest, performance.now() - began);
        answers++;
        // A write that was confirmed before the request has to be visible.
        const version = Number(markOf(body).split(" ")[1]);
        if (status !== 200 || version < told) wrong.push(`${status} ${markOf(body)} ${how}, ${told} was written`);
      }
    };
    const write = async (gateway: typeof a) => {
      // The effect of a change of all datasets.
      legacy.version++;
      await gateway.services.cache.invalidate({ all: true });
      state.told = legacy.version;
    };
    const loads = [load(a), load(b), load(a), load(b)];
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
    await pause(200);
    for (let round = 0; round < 2; round++) {
      await redis.kill();
      await until(() => a.services.cache.sharing() === "cut off" && b.services.cache.sharing() === "cut off");
      await write(a);
      await pause(100);
      await redis.start();
      await bothInStep();
      await pause(100);
      await write(b);
      await pause(200);
    }
    state.running = false;
    await Promise.all(loads);
    expect(wrong).toEqual([]);
    expect(answers).toBeGreaterThan(20);
    expect(slowest).toBeLessThan(10_000);
    expect((await a.ask(targets[0] as string)).how).toMatch(/hit|stored/);
  });
});
