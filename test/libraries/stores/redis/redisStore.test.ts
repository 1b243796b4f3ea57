import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { KEY, type Observed, openAt, put, textOf } from "../support.ts";
import { pathTo } from "./pathTo.ts";
import { describeWithRedis, startRedis } from "./redisServer.ts";
import { isTemporary } from "../../../../src/operation/settings/temporary.ts";
import { sleep, until } from "../../../support/waiting.ts";

type Redis = Awaited<ReturnType<typeof startRedis>>;

/** A gateway's store on a Redis. */
const onRedis = (url: string, settings: Parameters<typeof openAt>[1] = {}, times: Parameters<typeof openAt>[0] = {}) =>
  openAt({ REDIS_URL: url, ...times }, settings);

/** The error of a start once it has this reason: a busy machine may not get so far in the little time that it has. */
const refusal = async (url: string, why: string): Promise<Error> => {
  let refused = new Error("it has started");
  await until(async () => {
    await onRedis(url, {}, { patience: 300 }).catch((error: Error) => (refused = error));
    return refused.message.includes(why);
  });
  return refused;
};

/** A Redis, and two gateways that agree on two values; a third one was deleted. */
const begin = async () => {
  const redis = await startRedis({ keeps: true });
  const [a, b] = [await onRedis(redis.url), await onRedis(redis.url)];
  await put(a, "a", "one");
  await put(a, "gone", "one");
  await put(b, "b", "two");
  await b.update("gone", () => null);
  await until(() => [a, b].every((store) => textOf(store) === "a=one b=two"));
  return { redis, a, b };
};

describeWithRedis("gateways that share a store on Redis", () => {
  test("a change is reported once to the other gateway, and not to its own", async () => {
    const { redis, a, b } = await begin();
    const before = [a.changes.length, b.changes.length];
    await put(a, "a", "three");
    await until(() => b.changes.at(-1) === "a=three");
    // Both look again.
    await redis.talk("PUBLISH catalog-gateway:1:0:state:changes somebody");
    await put(b, "c", "one");
    await until(() => a.changes.at(-1) === "c=one");
    expect([a.changes.length, b.changes.length]).toEqual([(before[0] ?? 0) + 1, (before[1] ?? 0) + 1]);
  });

  test("of updates at the same moment none is lost", async () => {
    const { a, b } = await begin();
    const add = (store: typeof a, text: string) => store.update("a", (latest) => ({ name: `${latest?.name}${text}` }));
    await Promise.all(Array.from({ length: 20 }, () => [add(a, "+"), add(b, "-")]).flat());
    await until(() => a.get("a")?.name === b.get("a")?.name);
    expect(a.get("a")?.name.split("").toSorted().join("")).toBe(`${"+".repeat(20)}${"-".repeat(20)}eno`);
  });

  test("values that a flushed Redis has lost stay gone in all gateways, and they say so", async () => {
    const { redis, a, b } = await begin();
    await redis.talk("FLUSHALL");
    await until(() => textOf(a) === "" && textOf(b) === "");
    for (const { events, changes } of [a, b]) {
      expect(events).toEqual(['store_emptied {"feature":"things"}']);
      expect(changes.slice(-2).toSorted()).toEqual(["a-", "b-"]);
    }
    expect(await redis.talk(`EXISTS ${KEY}`)).toMatch(/^:0/);
    expect(await put(a, "b", "new")).toBe(true);
    await until(() => textOf(b) === "b=new");
    expect(textOf(await onRedis(redis.url))).toBe("b=new");
  });

  test("all gateways report an unreadable value, and keep the value before it", async () => {
    const { redis, a, b } = await begin();
    await redis.talk(`HSET ${KEY} a garbage # changed`);
    await until(() => a.events.length === 1 && b.events.length === 1);
    for (const store of [a, b]) {
      expect(store.events[0]).toMatch(/^store_unreadable \{"feature":"things","keys":\["a"\]/);
      expect(textOf(store)).toBe("a=one b=two");
    }
    await put(b, "a", "mended");
    await until(() => textOf(a) === "a=mended b=two");
  });

  test("a key of another type is set aside, and hinders neither a start nor a gateway", async () => {
    const { redis, a, b } = await begin();
    await redis.talk(`SET ${KEY} foreign`);
    const started = await onRedis(redis.url);
    expect(await put(started, "a", "new")).toBe(true);
    await until(() => [a, b].every((store) => textOf(store) === "a=new"));
    const events = [a, b, started].flatMap((store) => store.events).filter((event) => !event.includes("store_emptied"));
    expect(events).toEqual([`redis_key_set_aside {"key":"${KEY}"}`]);
    expect(await redis.talk(`GET ${KEY}:set-aside`)).toContain("foreign");
  });

  test("without Redis updates fail, and each gateway goes on with its values", async () => {
    const { redis, a, b } = await begin();
    await redis.kill();
    await expect(put(a, "a", "three")).rejects.toThrow(/./);
    await until(() => a.events.length === 1 && b.events.length === 1);
    expect([a.events[0], textOf(a), textOf(b)]).toEqual([
      expect.stringMatching(/^store_lost \{"why":/),
      "a=one b=two",
      "a=one b=two",
    ]);
    await redis.start();
    await until(() => a.events.length === 2 && b.events.length === 2);
    expect([a.events[1], b.events[1]]).toEqual(["store_up {}", "store_up {}"]);
    expect(await put(a, "a", "three")).toBe(true);
    await until(() => textOf(b) === "a=three b=two");
  });

  test.each<[string, (redis: Redis) => unknown, string]>([
    ["is a replica", (redis) => redis.refuseWrites("replica"), "READONLY"],
    ["has no room on its disk", (redis) => redis.refuseWrites("full disk"), "MISCONF"],
    ["is full", (redis) => redis.talk("CONFIG SET maxmemory 1"), "OOM"],
  ])("while Redis %s updates fail, and starts succeed", async (_, refuse, why) => {
    const { redis, a } = await begin();
    await refuse(redis);
    await expect(put(a, "a", "three")).rejects.toThrow(why);
    expect(a.events[0]).toContain(`store_lost {"why":"${why}`);
    expect(textOf(await onRedis(redis.url))).toBe("a=one b=two");
    await redis.talk("CONFIG SET maxmemory 0");
    await redis.takeWrites();
    await until(() => a.events.at(-1) === "store_up {}");
    expect(textOf(a)).toBe("a=one b=two");
    expect(await put(a, "a", "four")).toBe(true);
  });

  test("a Redis that hangs holds up no update, and its late writes are rolled back", async () => {
    const redis = await startRedis();
    const a = await onRedis(redis.url, {}, { timeout: 2000 });
    await put(a, "a", "one");
    const version = await redis.talk(`HGET ${KEY} #`);
    redis.pause();
    // A look of its own may have been late first: that renews the connection.
    await expect(put(a, "a", "two")).rejects.toThrow(
      /^(Redis did not answer within 2000 ms|it did not answer in time)$/,
    );
    expect(textOf(a)).toBe("a=one");
    redis.resume();
    // Redis takes the bytes that came before the connection was closed.
    await until(async () => (await redis.talk(`HGET ${KEY} #`)) !== version);
    await until(async () => (await redis.talk(`HGET ${KEY} a`)).includes("one"));
    expect([textOf(a), a.changes]).toEqual(["a=one", []]);
  });

  /** A gateway whose update is made, but refused to it, since its connection breaks after `meanwhile`. */
  const refused = async (
    redis: { url: string },
    update: (store: Observed) => Promise<unknown>,
    meanwhile: () => Promise<unknown>,
  ) => {
    const path = await pathTo(redis.url);
    const a = await onRedis(path.url);
    path.freeze("answers");
    const updating = update(a).catch((error: Error) => error);
    await meanwhile();
    path.cut();
    expect(await updating).toBeInstanceOf(Error);
    path.mend();
    return a;
  };

  test("a value that a refused update made or changed is restored", async () => {
    const { redis, b } = await begin();
    for (const [key, before] of [
      ["a", "one"],
      ["new", undefined],
    ] as const) {
      const a = await refused(
        redis,
        (store) => put(store, key, "late"),
        () => until(() => b.get(key)?.name === "late"),
      );
      await until(() => b.get(key)?.name === before);
      expect([textOf(a), a.changes]).toEqual(["a=one b=two", []]);
    }
    expect(textOf(await onRedis(redis.url))).toBe("a=one b=two");
  });

  test("an update after a refused update begins with the value before both", async () => {
    const { redis, b } = await begin();
    const add = (store: Observed) => store.update("a", (latest) => ({ name: `${latest?.name} more` }));
    const a = await refused(redis, add, () => until(() => b.get("a")?.name === "one more"));
    await until(async () => await add(a).catch(() => false));
    expect(textOf(await onRedis(redis.url))).toBe("a=one more b=two");
  });

  test("a refused update is not rolled back if another gateway has written since", async () => {
    const { redis, b } = await begin();
    const writing = (store: Observed) => put(store, "a", "late");
    const a = await refused(redis, writing, async () => {
      await until(() => b.get("a")?.name === "late");
      await put(b, "b", "three");
    });
    await until(() => textOf(a) === "a=late b=three");
    expect(textOf(await onRedis(redis.url))).toBe("a=late b=three");
  });

  test("a lost message is recovered, and connections that carry nothing are opened again", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const [a, b] = [await onRedis(path.url, {}, { timeout: 2000 }), await onRedis(redis.url)];
    path.freeze("listeners");
    await put(b, "a", "one");
    await until(() => textOf(a) === "a=one");
    expect(a.changes).toEqual(["a=one"]);
    path.freeze("all");
    await expect(put(a, "a", "two")).rejects.toThrow("did not answer");
    await until(async () => await put(a, "a", "three").catch(() => false));
    await until(() => textOf(b) === "a=three");
  });

  const CLAIM = "catalog-gateway:1:state:claim:scan";

  test("one gateway at a time has a claim; another gets it when it has ended", async () => {
    const { redis, a, b } = await begin();
    const [first, second] = [a.stores.claim("scan"), b.stores.claim("scan")];
    expect([await first(), await second(), await first(), await second()]).toEqual([true, false, true, false]);
    expect(await redis.talk(`PTTL ${CLAIM}`)).toMatch(/^:\d{4,5}\r/);
    expect(await b.stores.claim("another")()).toBe(true);
    await a.stores.close();
    // As it does after ten seconds.
    await redis.talk(`DEL ${CLAIM}`);
    expect([await first(), await second()]).toEqual([false, true]);
  });

  test.each([
    // As long as it would hold then.
    ["the clock of Redis is set back", `PEXPIRE ${CLAIM} 3600000`, false],
    ["another program has written it", `SET ${CLAIM} foreign`, false],
    ["another program has written another type", `LPUSH ${CLAIM} foreign`, true],
  ])("a claim ends in time where %s", async (_, command, isFree) => {
    const { redis, a, b } = await begin();
    expect(await a.stores.claim("scan")()).toBe(true);
    await redis.talk(...(isFree ? [`DEL ${CLAIM}`] : []), command);
    expect(await b.stores.claim("scan")()).toBe(isFree);
    expect(await redis.talk(`PTTL ${CLAIM}`)).toMatch(/^:\d{1,5}\r/);
    expect(b.events).toEqual(isFree ? [`redis_key_set_aside {"key":"${CLAIM}"}`] : []);
  });

  test("a start that needs Redis fails without it, or for a password, which is not shown", async () => {
    const redis = await startRedis();
    const { host } = new URL(redis.url);
    const url = `redis://olga:secret-word@${host}`;
    const wrong = await refusal(url, "WRONGPASS");
    await redis.kill();
    const away = await refusal(url, "connection refused");
    expect([wrong, away].map(isTemporary)).toEqual([false, true]);
    for (const { message } of [wrong, away]) {
      expect(message).toMatch(new RegExp(`^REDIS_URL: ${host} cannot be used: `));
      expect(message).not.toContain("secret-word");
    }
    const other = await onRedis(redis.url, { needsRedis: false });
    await redis.start();
    await until(async () => await put(other, "a", "one").catch(() => false));
  });

  test("a start waits for a Redis that comes up, not for one that hangs", async () => {
    const redis = await startRedis();
    redis.pause();
    await refusal(redis.url, "cannot be used: it does not answer");
    redis.resume();
    await redis.kill();
    const opening = onRedis(redis.url);
    await sleep(200);
    await redis.start();
    const store = await opening;
    expect(await put(store, "a", "one")).toBe(true);
    // A Redis that answers is read, however long the start has taken.
    await redis.talk(`HSET catalog-gateway:1:state:others a '"one"' # changed`);
    const now = performance.now();
    vi.spyOn(performance, "now").mockReturnValue(now + 60_000);
    onTestFinished(() => void vi.restoreAllMocks());
    await redis.talk("CLIENT PAUSE 50");
    expect((await store.stores.open({ feature: "others", schema: () => z.string() })).get("a")).toBe("one");
  });

  test("a closed store leaves no connection behind", async () => {
    const redis = await startRedis();
    // All but the requesting one.
    const connected = async () => ((await redis.talk("CLIENT LIST")).match(/^id=|\nid=/g)?.length ?? 0) - 1;
    const { stores } = await onRedis(redis.url);
    await stores.open({ feature: "others", schema: () => z.string() });
    expect(await connected()).toBe(2);
    await stores.close();
    await until(async () => (await connected()) === 0);
  });
});
