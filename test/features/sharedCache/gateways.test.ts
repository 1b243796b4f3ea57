import { expect, onTestFinished, test, vi } from "vitest";
import { alice, cachedGateway, kept, markOf } from "../../gateway/cache/support.ts";
import { pathTo } from "../../libraries/stores/redis/pathTo.ts";
import { describeWithRedis, startRedis } from "../../libraries/stores/redis/redisServer.ts";
import { fakeLegacy, type FakeLegacy } from "../../support/fakeLegacy.ts";
import type { GatewayParts } from "../../support/gateway.ts";
import { settled, until } from "../../support/waiting.ts";

const path = kept.getDataset;

/** After a gap of Redis, gateways wait for each other for a shorter time; where that is too short, Redis is emptied. */
const impatient = { waitForOthers: 500 };

/** Two gateways over one legacy that share by one Redis. `way`: how the first gateway reaches it. */
const two = async (legacy: FakeLegacy, url: string, parts: GatewayParts = impatient, way = url) => {
  const [a, b] = [
    await cachedGateway({ REDIS_URL: way }, legacy, parts),
    await cachedGateway({ REDIS_URL: url }, legacy, parts),
  ];
  const bothInStep = () => until(() => [a, b].every(({ core }) => core.cache.sharing() === "in step"));
  await bothInStep();
  return { a, b, bothInStep };
};

/** From now on Redis answers in time, however busy the machine is. */
const stopClock = () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
};

const tag = { data_id: 61, tag: "a" };

/**
 * A failure of Redis, or of the way to it, and how it ends. `isKept`: answers that no write has invalidated are still
 * hits afterwards. `why`: the state that operators see.
 */
type Outage = {
  title: string;
  isKept?: boolean;
  begin: (on: Links) => unknown;
  end?: (on: Links) => unknown;
  why?: RegExp;
};
type Links = { redis: Awaited<ReturnType<typeof startRedis>>; way: Awaited<ReturnType<typeof pathTo>> };

describeWithRedis("two gateways and a Redis", () => {
  test("one serves the other's answers byte for byte; legacy gets one request", async () => {
    const redis = await startRedis();
    const legacy = await fakeLegacy();
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

  test("answers that were fetched with a key are not shared", async () => {
    const redis = await startRedis();
    const legacy = await fakeLegacy();
    const { a, b } = await two(legacy, redis.url);
    await a.ask(path, a.as(alice));
    await settled();
    expect(await redis.talk("KEYS catalog-gateway:1:e:*")).toMatch(/^\*0/);
    expect((await b.ask(path)).how).toMatch(/^fwd=uri-miss/);
  });

  test("a write through either is seen through the other at once", async () => {
    const redis = await startRedis();
    const legacy = await fakeLegacy();
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

  test("while Redis hangs, a write is answered when no other gateway serves older hits", async () => {
    const redis = await startRedis();
    const legacy = await fakeLegacy();
    const { a, b } = await two(legacy, redis.url);
    await until(async () => (await b.ask(path)).how.startsWith("hit"));
    redis.pause();
    expect((await a.post("/v1/datasets/tag", tag, a.as(alice))).status).toBe(200);
    expect(markOf((await b.ask(path)).body)).toBe(`nobody ${legacy.version}`);
    redis.resume();
  });

  test("a write that Redis refuses reaches the other gateway as soon as Redis takes it", async () => {
    const redis = await startRedis();
    const legacy = await fakeLegacy();
    const { a, b } = await two(legacy, redis.url);
    await until(async () => (await b.ask(path)).how.startsWith("hit"));
    // Heartbeats go on, and reads.
    await redis.talk("ACL SETUSER default -del");
    expect((await a.post("/v1/datasets/tag", tag, a.as(alice))).status).toBe(200);
    expect(markOf((await a.ask(path)).body)).toBe(`nobody ${legacy.version}`);
    await redis.talk("ACL SETUSER default +del");
    await until(async () => markOf((await b.ask(path)).body) === `nobody ${legacy.version}`);
  });

  test("a read that runs in one during a write through the other is cached by neither", async () => {
    const redis = await startRedis();
    const legacy = await fakeLegacy();
    const { a, b } = await two(legacy, redis.url);
    legacy.hold(1);
    const reading = a.ask(path);
    await until(() => legacy.asked.length === 1);
    await b.post("/v1/datasets/tag", tag, b.as(alice));
    legacy.letGo();
    expect(markOf((await reading).body)).toBe("nobody 1");
    for (const gateway of [a, b]) expect(markOf((await gateway.ask(path)).body)).toBe("nobody 2");
  });

  test("a refresh that is refused removes the shared entry as well", async () => {
    const redis = await startRedis();
    const legacy = await fakeLegacy();
    const { a, b } = await two(legacy, redis.url);
    await a.ask(path);
    legacy.privateTo = alice;
    expect((await a.ask(path, { "Cache-Control": "no-cache" })).status).toBe(403);
    expect((await b.ask(path)).status).toBe(403);
  });

  test.each<Outage>([
    { title: "paused", begin: ({ redis }) => redis.pause(), end: ({ redis }) => redis.resume() },
    { title: "killed, and keeps all", begin: ({ redis }) => redis.kill(), end: ({ redis }) => redis.start() },
    {
      title: "killed, and forgets",
      isKept: false,
      begin: ({ redis }) => redis.kill(),
      end({ redis }) {
        redis.replaceData("none");
        return redis.start();
      },
    },
    {
      title: "put back to older data",
      isKept: false,
      begin: ({ redis }) => redis.kill(),
      end({ redis }) {
        redis.replaceData("copy");
        return redis.start();
      },
    },
    {
      title: "a replica",
      begin: ({ redis }) => redis.refuseWrites("replica"),
      end: ({ redis }) => redis.takeWrites(),
      why: /^failed other gateways may not see writes through this one, nor this one theirs: READONLY/,
    },
    {
      title: "without room on its disk",
      begin: ({ redis }) => redis.refuseWrites("full disk"),
      end: ({ redis }) => redis.takeWrites(),
      why: /^failed .* theirs: MISCONF/,
    },
    { title: "out of reach", begin: ({ way }) => way.cut(), end: ({ way }) => way.mend() },
    { title: "behind connections that carry nothing", begin: ({ way }) => way.freeze("all") },
    { title: "behind a subscription that carries nothing", begin: ({ way }) => way.freeze("listeners") },
    { title: "closing subscriptions", begin: ({ redis }) => redis.talk("CLIENT KILL TYPE pubsub") },
    { title: "sending garbage", begin: ({ redis }) => redis.talk("PUBLISH catalog-gateway:1:0:drops garbage") },
    {
      title: "sending a later version's message",
      begin: ({ redis }) =>
        redis.talk(`PUBLISH catalog-gateway:1:0:drops '{"from":"a","epoch":"b","drop":{"rows":[1]}}'`),
    },
  ])("while Redis is $title, and later, no entry from before a write is served", async (outage) => {
    const { begin, end, isKept = true, why = /^(ok|failed) / } = outage;
    const redis = await startRedis({ keeps: true });
    const way = await pathTo(redis.url);
    const legacy = await fakeLegacy();
    const withPassword = way.url.replace("//", "//:hunter2@");
    const { a, b, bothInStep } = await two(legacy, redis.url, { redisTimeout: 2000 }, withPassword);
    const unwritten = "/v1/datasets/62";
    const expectCurrent = async ({ ask }: typeof a) =>
      expect(markOf((await ask(path)).body)).toBe(`nobody ${legacy.version}`);
    const write = () => b.post("/v1/datasets/tag", tag, b.as(alice));
    for (const target of [path, unwritten])
      for (const { ask } of [a, b]) await until(async () => (await ask(target)).how.startsWith("hit"));
    redis.copyData();
    // Now the copy has an entry that was invalidated.
    await write();
    const counted = (event: string) => a.observer.counts()[event] ?? 0;
    const before = counted("shared_tier_lost");
    await begin({ redis, way });
    await until(async () => {
      await write();
      return end ? a.core.cache.sharing() === "cut off" : counted("shared_tier_lost") > before;
    });
    await expectCurrent(a);
    const seen = a.core.dependencies.states().find(({ name }) => name === "redis");
    expect(`${seen?.state} ${seen?.why}`).toMatch(why);
    expect(`${seen?.why}`).not.toContain("hunter2");
    await end?.({ redis, way });
    await bothInStep();
    for (const gateway of [a, b]) await expectCurrent(gateway);
    const { how, body } = await a.ask(unwritten);
    expect([how.startsWith("hit"), markOf(body)]).toEqual([isKept, `nobody ${isKept ? 1 : legacy.version}`]);
    await until(() => counted("shared_tier_up") === counted("shared_tier_lost") + 1);
    // It is shared again.
    for (const { ask } of [a, b]) await until(async () => (await ask("/v1/datasets/7")).how.startsWith("hit"));
  });

  test("an entry from before Redis was reached is not served after the other's write", async () => {
    const redis = await startRedis();
    const way = await pathTo(redis.url);
    way.cut();
    const legacy = await fakeLegacy();
    const a = await cachedGateway({ REDIS_URL: way.url }, legacy);
    const b = await cachedGateway({ REDIS_URL: redis.url }, legacy);
    await until(() => b.core.cache.sharing() === "in step");
    await a.ask(path);
    await b.post("/v1/datasets/tag", tag, b.as(alice));
    way.mend();
    await until(() => a.core.cache.sharing() === "in step");
    expect(markOf((await a.ask(path)).body)).toBe(`nobody ${legacy.version}`);
  });
});
