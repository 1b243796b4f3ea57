import { expect, test } from "vitest";
import { describeWithRedis } from "../../../store/redis/redisServer.ts";
import { begin, KEY, wait } from "./instances.ts";
import { moveOn } from "./moves.ts";
import { openRedis, stagesOf } from "./support.ts";
import { until } from "../../../support/waiting.ts";

describeWithRedis("a Redis that has lost its data", () => {
  test.each([
    ["one stage", [`HDEL ${KEY}records stage/listThings`]],
    ["an expected difference and the log of changes", [`HDEL ${KEY}records expected/one`, `DEL ${KEY}log`]],
  ])("%s: what is in force stays in force, and is put back, which is told", async (_, commands) => {
    const { redis, a, b } = await begin();
    const before = a.state();
    const changes = [a.changes.length, b.changes.length];
    await redis.talk(...commands);
    await until(() => a.events.length + b.events.length > 0);
    await wait(300);
    expect([...a.events, ...b.events]).toEqual([expect.stringMatching(/^migration_store_restored /)]);
    expect([a.state(), b.state()]).toEqual([before, before]);
    expect([a.changes.length, b.changes.length]).toEqual(changes);
    const fresh = await openRedis(redis.url);
    expect(fresh.state()).toEqual(before);
    expect(await moveOn(fresh, "getThing", 4)).toBe(true);
    await until(() => a.state().audit.length === 4);
    expect(a.state()).toEqual(fresh.state());
  });

  test("a restart without its data: the same", async () => {
    const { redis, a, b } = await begin();
    const before = a.state();
    await redis.kill();
    await redis.start();
    await until(() => [...a.events, ...b.events].some((event) => event.startsWith("migration_store_restored")));
    expect((await openRedis(redis.url)).state()).toEqual(before);
    expect([a.state(), b.state()]).toEqual([before, before]);
  });

  test("a move right after it starts from the stage in force, not from an empty state", async () => {
    const { redis, a, b } = await begin();
    await redis.talk("FLUSHALL");
    expect(await moveOn(a, "getThing", 4)).toBe(true);
    await until(() => b.state().audit.length === 4);
    expect(stagesOf(b.state())).toEqual(["getThing shadow 4", "listThings canary 2"]);
    expect(b.state()).toEqual(a.state());
  });

  test("what one who knew nothing of it has moved since stays, the rest is put back", async () => {
    const { redis, a } = await begin();
    const [{ url }, before] = [redis, a.state()];
    const fresh = await (async () => {
      await redis.talk("FLUSHALL");
      // This instance is the only one that reads the empty Redis.
      const opening = await openRedis(url);
      await moveOn(opening, "getThing", 9, "legacy");
      return opening;
    })();
    await until(() => stagesOf(a.state())[0] === "getThing legacy 9");
    await until(() => stagesOf(fresh.state()).length === 2);
    expect(stagesOf(fresh.state())).toEqual(["getThing legacy 9", "listThings canary 2"]);
    expect(fresh.state().audit.slice(1)).toEqual(before.audit);
    expect(a.state()).toEqual(fresh.state());
  });
});
