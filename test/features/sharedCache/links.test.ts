import { expect, test } from "vitest";
import { pathTo } from "../../store/redis/pathTo.ts";
import { describeWithRedis, startRedis } from "../../store/redis/redisServer.ts";
import { begin, entry, open } from "./support.ts";
import { sleep, until } from "../../support/waiting.ts";

describeWithRedis("a link to Redis that breaks", () => {
  test("what was cached before it first listened is reported as lost", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    path.cut();
    const a = begin(path.url);
    const b = await open(redis.url);
    await b.invalidate({ groups: ["dataset/61"] });
    path.mend();
    await until(() => a.trusted());
    expect([a.observed.drops, a.observed.lost]).toEqual([[], 1]);
  });

  test("connections that silently carry nothing any more are made anew", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const a = await open(path.url);
    const b = await open(redis.url);
    await a.put("k", await entry("old"));
    path.freeze("all");
    const invalidated = b.invalidate({ groups: ["dataset/61"] });
    await until(() => !a.trusted());
    await invalidated;
    await until(() => a.trusted());
    expect(a.observed.lost).toBeGreaterThan(0);
    expect(await a.get("k")).toBeUndefined();
  });

  test("a silent listening connection is found out, however much is invalidated", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const a = await open(path.url);
    const b = await open(redis.url);
    path.freeze("listeners");
    const state = { running: true };
    const drops = (async () => {
      for (let i = 0; state.running; i++) await Promise.all([b.invalidate({ groups: [`dataset/${i}`] }), sleep(100)]);
    })();
    await until(() => a.observed.lost > 0);
    await until(() => a.trusted());
    // It receives messages again.
    const heard = a.observed.drops.length;
    await expect.poll(() => a.observed.drops.length).toBeGreaterThan(heard);
    state.running = false;
    await drops;
  });

  test("invalidations made while cut off reach the others, which keep the rest", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const a = await open(path.url);
    const b = await open(redis.url);
    await b.put("other", await entry("[1]", { groups: ["dataset/62", "dataset"] }));
    path.cut();
    await until(() => !a.trusted());
    await a.invalidate({ groups: ["dataset/61"], hold: 700 });
    await a.invalidate({ endpoint: "getSetup", soft: true });
    expect(b.observed.drops).toEqual([]);
    path.mend();
    await until(() => a.trusted());
    await until(() => b.observed.drops.some(({ soft }) => soft === true));
    expect(b.observed.drops.filter((drop) => Object.keys(drop).length > 0)).toEqual([
      { groups: ["dataset/61"], hold: 700 },
      { endpoint: "getSetup", soft: true },
    ]);
    await sleep(700);
    expect([a.observed.lost > 0, b.trusted()]).toEqual([true, true]);
    // A gateway that was cut off may have written, so Redis holds no earlier entries.
    expect(await b.get("other")).toBeUndefined();
  });

  test("more than a thousand invalidations while cut off become one of everything", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const [a, b] = [await open(path.url), await open(redis.url)];
    path.cut();
    await until(() => !a.trusted());
    await Promise.all(
      Array.from({ length: 1001 }, (_, i) => a.invalidate({ groups: [`g${i}`], ...(i === 7 && { hold: 500 }) })),
    );
    path.mend();
    await until(() => b.observed.drops.some(({ all }) => all === true));
    expect(b.observed.drops.filter((drop) => Object.keys(drop).length > 0)).toEqual([{ all: true, hold: 500 }]);
  });

  test.each([
    ["garbage", "garbage"],
    ["a later version's", `'{"from":"a","epoch":"b","drop":{"rows":[1]}}'`],
  ])("after a message that is %s everything is discarded, and trusted again", async (_, message) => {
    const redis = await startRedis();
    const [a, b] = [await open(redis.url), await open(redis.url)];
    await a.put("k", await entry("old"));
    await redis.talk(`PUBLISH catalog-gateway:1:drops ${message}`);
    await until(() => a.observed.lost > 0 && b.observed.lost > 0);
    await until(() => a.trusted() && b.trusted());
    expect(await a.get("k")).toBeUndefined();
    await b.invalidate({ groups: ["dataset/61"] });
    await until(() => a.observed.drops.some(({ groups }) => groups?.includes("dataset/61") ?? false));
  });

  test("a get right behind the first invalidation does not overtake it", async () => {
    const redis = await startRedis();
    const [a, b] = [await open(redis.url), await open(redis.url)];
    await a.put("k", await entry("old"));
    expect(await b.get("k")).toBeDefined();
    const dropping = b.invalidate({ groups: ["dataset/61"] });
    expect(await b.get("k")).toBeUndefined();
    await dropping;
  });

  test("closed while connecting or connected, it leaves no connection behind", async () => {
    const redis = await startRedis();
    // All but the requesting one.
    const connected = async () => ((await redis.talk("CLIENT LIST")).match(/^id=|\nid=/g)?.length ?? 0) - 1;
    for (const ms of [0, 1, 2, 5, 10, 50]) {
      const tier = begin(redis.url);
      await sleep(ms);
      await tier.close();
      expect(tier.trusted()).toBe(false);
      expect(await tier.get("k")).toBeUndefined();
    }
    await until(async () => (await connected()) === 0);
    const one = await open(redis.url);
    expect(await connected()).toBe(2);
    await one.close();
    await until(async () => (await connected()) === 0);
    expect(one.observed.events).toEqual(["shared_tier_up"]);
  });

  test("an outage is reported once, without the password", async () => {
    const redis = await startRedis();
    const a = await open(redis.url.replace("//", "//:hunter2@"));
    await redis.kill();
    await sleep(1500);
    await redis.start();
    await until(() => a.trusted());
    const counts = (name: string) => a.observed.events.filter((event) => event === name).length;
    expect(counts("shared_tier_up")).toBe(counts("shared_tier_lost") + 1);
    const { events, whys } = a.observed;
    const lost = events.indexOf("shared_tier_lost");
    const during = whys.slice(lost, events.indexOf("shared_tier_up", lost));
    expect(new Set(during).size).toBe(during.length);
    expect(a.observed.whys.join()).not.toContain("hunter2");
  });
});
