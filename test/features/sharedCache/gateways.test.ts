import { expect, onTestFinished, test, vi } from "vitest";
import {
  alice,
  cachedGateway,
  kept,
  markOf,
  type ScriptedLegacy,
  scriptedLegacy,
} from "../../gateway/cache/support.ts";
import { pathTo } from "../../libraries/stores/redis/pathTo.ts";
import { describeWithRedis, startRedis } from "../../libraries/stores/redis/redisServer.ts";
import type { GatewayParts } from "../../support/gateway.ts";
import { settled, until } from "../../support/waiting.ts";

const path = kept.getDataset;

/** After a gap of Redis, gateways wait for each other for a shorter time; where that is too short, Redis is emptied. */
const impatient = { waitForOthers: 500 };

/** Two gateways over one legacy that share by one Redis. `way`: how the first gateway reaches it. */
const two = async (legacy: ScriptedLegacy, url: string, parts: GatewayParts = impatient, way = url) => {
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

/** A failure of Redis, or of the way to it, and how it ends. */
type Outage = {
  title: string;
  keeps?: boolean;
  begin: (on: Links) => unknown;
  end?: (on: Links) => unknown;
  why?: RegExp;
};
/**
 * A gap of Redis: its begin and end, and whether a write comes in it and cached answers still count.
 */
type Gap = {
  title: string;
  isKept: boolean;
  isWritten?: boolean;
  begin: (on: Links) => unknown;
  end?: (on: Links) => unknown;
};
type Links = { redis: Awaited<ReturnType<typeof startRedis>>; way: Awaited<ReturnType<typeof pathTo>> };

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

  test("answers that were fetched with a key are not shared", async () => {
    const redis = await startRedis();
    const legacy = await scriptedLegacy();
    const { a, b } = await two(legacy, redis.url);
    await a.ask(path, a.as(alice));
    await settled();
    expect(await redis.talk("KEYS catalog-gateway:1:e:*")).toMatch(/^\*0/);
    expect((await b.ask(path)).how).toMatch(/^fwd=uri-miss/);
  });

  test("a write through either is seen through the other at once", async () => {
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

  test("while Redis hangs, a write is answered when no other gateway serves older hits", async () => {
    const redis = await startRedis();
    const legacy = await scriptedLegacy();
    const { a, b } = await two(legacy, redis.url);
    await until(async () => (await b.ask(path)).how.startsWith("hit"));
    redis.pause();
    expect((await a.post("/v1/datasets/tag", tag, a.as(alice))).status).toBe(200);
    expect(markOf((await b.ask(path)).body)).toBe(`nobody ${legacy.version}`);
    redis.resume();
  });

  test("a write that Redis refused once reaches the other as soon as Redis takes it", async () => {
    const redis = await startRedis();
    const legacy = await scriptedLegacy();
    const { a, b } = await two(legacy, redis.url);
    await b.ask(path);
    // Heartbeats go on.
    await redis.talk("ACL SETUSER default resetkeys ~catalog-gateway:1:epoch*");
    expect((await a.post("/v1/datasets/tag", tag, a.as(alice))).status).toBe(200);
    await redis.talk("ACL SETUSER default allkeys");
    await until(async () => markOf((await b.ask(path)).body) === `nobody ${legacy.version}`);
  });

  test("a read that runs in one during a write through the other is cached by neither", async () => {
    const redis = await startRedis();
    const legacy = await scriptedLegacy();
    const { a, b } = await two(legacy, redis.url);
    const release = legacy.hold();
    const reading = a.ask(path);
    await until(() => legacy.asked.length === 1);
    legacy.gate = undefined;
    await b.post("/v1/datasets/tag", tag, b.as(alice));
    release();
    expect(markOf((await reading).body)).toBe("nobody 1");
    for (const gateway of [a, b]) expect(markOf((await gateway.ask(path)).body)).toBe("nobody 2");
  });

  test("a refresh that is refused removes the shared entry as well", async () => {
    const redis = await startRedis();
    const legacy = await scriptedLegacy();
    const { a, b } = await two(legacy, redis.url);
    await a.ask(path);
    legacy.privateTo = alice;
    expect((await a.ask(path, { "Cache-Control": "no-cache" })).status).toBe(403);
    expect((await b.ask(path)).status).toBe(403);
  });

  test.each<Outage>([
    {
      title: "killed, and forgets",
      keeps: false,
      begin: ({ redis }) => redis.kill(),
      end: ({ redis }) => redis.start(),
    },
    { title: "killed, and keeps all", begin: ({ redis }) => redis.kill(), end: ({ redis }) => redis.start() },
    { title: "paused", begin: ({ redis }) => redis.pause(), end: ({ redis }) => redis.resume() },
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
    const redis = await startRedis({ keeps: outage.keeps ?? true });
    const way = await pathTo(redis.url);
    const legacy = await scriptedLegacy();
    const { a, b, bothInStep } = await two(legacy, redis.url, impatient, way.url.replace("//", "//:hunter2@"));
    await a.ask(path);
    await until(async () => (await b.ask(path)).how.startsWith("hit"));
    const counted = (event: string) => a.observer.counts()[event] ?? 0;
    const before = counted("shared_tier_lost");
    await outage.begin({ redis, way });
    await until(async () => {
      await b.post("/v1/datasets/tag", tag, b.as(alice));
      return outage.end ? a.core.cache.sharing() === "cut off" : counted("shared_tier_lost") > before;
    });
    expect(markOf((await a.ask(path)).body)).toBe(`nobody ${legacy.version}`);
    const { state, why } = a.core.dependencies.states().find(({ name }) => name === "redis") ?? {};
    expect(`${state} ${why}`).toMatch(outage.why ?? /^(ok|failed) /);
    expect(`${why}`).not.toContain("hunter2");
    await outage.end?.({ redis, way });
    await bothInStep();
    for (const gateway of [a, b]) expect(markOf((await gateway.ask(path)).body)).toBe(`nobody ${legacy.version}`);
    await until(() => counted("shared_tier_up") === counted("shared_tier_lost") + 1);
    // It is shared again.
    await until(async () => (await a.ask("/v1/datasets/7")).how.startsWith("hit"));
    await until(async () => (await b.ask("/v1/datasets/7")).how.startsWith("hit"));
  });

  test.each<Gap>([
    {
      title: "Redis is paused",
      isKept: true,
      begin: ({ redis }) => redis.pause(),
      end: ({ redis }) => redis.resume(),
    },
    {
      title: "Redis is restarted with its data",
      isKept: true,
      begin: ({ redis }) => redis.kill(),
      end: ({ redis }) => redis.start(),
    },
    { title: "one gateway is stopped", isKept: true, begin: ({ way }) => way.freeze("all") },
    {
      title: "Redis is paused while one gateway writes something else",
      isKept: true,
      isWritten: true,
      begin: ({ redis }) => redis.pause(),
      end: ({ redis }) => redis.resume(),
    },
    {
      title: "one gateway is stopped while the other writes something else",
      isKept: true,
      isWritten: true,
      begin: ({ way }) => way.freeze("all"),
    },
    {
      title: "Redis is restarted without data",
      isKept: false,
      begin: ({ redis }) => redis.kill(),
      end({ redis }) {
        redis.replaceData("none");
        return redis.start();
      },
    },
    {
      title: "Redis is put back to older data",
      isKept: false,
      begin: ({ redis }) => redis.kill(),
      end({ redis }) {
        redis.replaceData("copy");
        return redis.start();
      },
    },
  ])("$title: other entries are kept: $isKept", async ({ begin, end, isKept, isWritten }) => {
    const redis = await startRedis({ keeps: true });
    const way = await pathTo(redis.url);
    const legacy = await scriptedLegacy();
    const { a, b, bothInStep } = await two(legacy, redis.url, { redisTimeout: 2000 }, way.url);
    const written = "/v1/datasets/62";
    for (const target of [path, written])
      for (const { ask } of [a, b]) await until(async () => (await ask(target)).how.startsWith("hit"));
    const write = async () => {
      expect((await b.post("/v1/datasets/tag", { data_id: 62, tag: "a" }, b.as(alice))).status).toBe(200);
    };
    redis.copyData();
    // Now Redis has an entry of it that is invalidated, if the copy is put back.
    await write();
    await begin({ redis, way });
    await until(() => a.core.cache.sharing() === "cut off");
    if (isWritten) await write();
    await end?.({ redis, way });
    await bothInStep();

    legacy.mode = "down";
    for (const { ask } of [a, b]) {
      const { status, body, how } = await ask(path);
      expect([status, markOf(body), how.startsWith("hit")]).toEqual([200, "nobody 1", isKept]);
      expect((await ask(written)).how).not.toMatch(/^hit/);
    }
    legacy.mode = "healthy";
    const current = `nobody ${legacy.version}`;
    for (const { ask } of [a, b]) {
      // After a failure an entry rests for a second. A gateway that was told too late still has its own, as stale.
      await until(async () => markOf((await ask(written)).body) === current);
      await until(async () => markOf((await ask(path)).body) === (isKept ? "nobody 1" : current));
    }
  });

  test("an entry from before Redis was reached is not served after the other's write", async () => {
    const redis = await startRedis();
    const way = await pathTo(redis.url);
    way.cut();
    const legacy = await scriptedLegacy();
    const a = await cachedGateway({ REDIS_URL: way.url }, legacy);
    const b = await cachedGateway({ REDIS_URL: redis.url }, legacy);
    await until(() => b.core.cache.sharing() === "in step");
    await a.ask(path);
    await b.post("/v1/datasets/tag", tag, b.as(alice));
    way.mend();
    await until(() => a.core.cache.sharing() === "in step");
    expect(markOf((await a.ask(path)).body)).toBe(`nobody ${legacy.version}`);
  });

  test("Redis killed under load: no error, no wait, nothing before the last write", async () => {
    const redis = await startRedis({ keeps: true });
    const legacy = await scriptedLegacy();
    // A write that is not confirmed in time may still be seen late; a request that waited for
    // Redis would hold up the test.
    const { a, b, bothInStep } = await two(legacy, redis.url, { ...impatient, redisTimeout: 3_600_000 });
    const targets = Array.from({ length: 20 }, (_, i) => `/v1/datasets/${i + 50}`);
    const wrong: string[] = [];
    let answers = 0;
    const state = { running: true, confirmed: 1 };
    const load = async (gateway: typeof a) => {
      for (let i = 0; state.running; i++) {
        const { confirmed } = state;
        const { status, body, how } = await gateway.ask(targets[i % targets.length] as string);
        answers++;
        // A write that was confirmed before the request has to be visible.
        const version = Number(markOf(body).split(" ")[1]);
        if (status !== 200 || version < confirmed)
          wrong.push(`${status} ${markOf(body)} ${how}, ${confirmed} was written`);
      }
    };
    const write = async (gateway: typeof a) => {
      // The effect of a change of all datasets.
      legacy.version++;
      await gateway.core.cache.invalidate({ all: true });
      state.confirmed = legacy.version;
    };
    const loads = [load(a), load(b), load(a), load(b)];
    /** Waits until clients have got more answers. */
    const more = () => {
      const enough = answers + 20;
      return until(() => answers > enough);
    };
    await more();
    for (let round = 0; round < 2; round++) {
      await redis.kill();
      await until(() => a.core.cache.sharing() === "cut off" && b.core.cache.sharing() === "cut off");
      await write(a);
      await more();
      await redis.start();
      await bothInStep();
      await more();
      await write(b);
      await more();
    }
    state.running = false;
    await Promise.all(loads);
    expect(wrong).toEqual([]);
    expect((await a.ask(targets[0] as string)).how).toMatch(/hit|stored/);
  });
});
