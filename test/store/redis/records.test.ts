import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { openRedisRecords } from "../../../src/store/redis/records.ts";
import { recordScripts } from "../../../src/store/redis/recordScripts.ts";

type Stored = { log: string[]; records: ReadonlyMap<string, string> };

const nothing: Stored = { log: [], records: new Map() };

const versionOf = ({ log, records }: Stored): string => {
  const version = (log[0] ?? "").split("\n")[0] ?? "";
  return Number(version.split(".")[1]) === records.size ? version : "";
};

/** Does what the two scripts do, and can be set back to any moment. */
const fakeRedis = () => {
  let stored = nothing;
  const history = [stored];
  return {
    history,
    forgetSince: (moment: number) => (stored = history[moment % history.length] as Stored),
    forgetKey(at: number) {
      const keys = [...stored.records.keys()];
      const lost = keys[at % Math.max(1, keys.length)];
      stored = { ...stored, records: new Map([...stored.records].filter(([key]) => key !== lost)) };
    },
    forgetLog: () => (stored = { ...stored, log: [] }),
    async run(script: object, _: readonly string[], args: readonly (string | Buffer)[]): Promise<unknown> {
      const now = versionOf(stored);
      const [from, , number, name, ...pairs] = args.map(String);
      if (script === recordScripts.read) {
        if (now !== "" && now === from) return null;
        const at = now === "" ? -1 : stored.log.findIndex((entry) => entry.split("\n")[0] === from);
        if (at === -1) return [now, "all", [...stored.records].flat()];
        const keys = new Set(stored.log.slice(0, at).flatMap((entry) => entry.split("\n").slice(1)));
        return [now, "some", [...keys].flatMap((key) => [key, stored.records.get(key) ?? null])];
      }
      if (now !== from) return null;
      const records = new Map(stored.records);
      for (let i = 0; i < pairs.length; i += 2) records.set(pairs[i] ?? "", pairs[i + 1] ?? "");
      const after = `${number}.${records.size}.${name}`;
      const entry = [after, ...pairs.filter((_text, i) => i % 2 === 0)].join("\n");
      stored = { log: [entry, ...(now === "" ? [] : stored.log)], records };
      history.push(stored);
      return Buffer.from(after);
    },
  };
};

/** A set of numbers that only grows: what is decided between two of them has all of both. */
type Numbers = number[];

const open = (redis: ReturnType<typeof fakeRedis>, told: string[] = [], isMerged = true) =>
  openRedisRecords<Numbers>({
    run: (...about) => redis.run(...about),
    prefix: "test:",
    schema: () => z.array(z.int()),
    ...(isMerged && {
      resolve: (known, found) => [...new Set([...known, ...found])].toSorted((one, other) => one - other),
    }),
    onChange: (changes) => void told.push(`changed ${[...changes.keys()].join()}`),
    onEvent: (event) => void told.push(event),
  });

const step = fc.oneof(
  fc.record({ update: fc.nat(3), by: fc.nat(2) }),
  fc.record({ save: fc.nat(3), by: fc.nat(2) }),
  fc.record({ sync: fc.nat(2) }),
  fc.record({ forgetSince: fc.nat(30) }),
  fc.record({ forgetKey: fc.nat(5) }),
  fc.constant({ forgetLog: true }),
);

test("after any losses of Redis the gateways agree, and no update is missing", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const redis = fakeRedis();
      const events: string[] = [];
      const gateways = Array.from({ length: 3 }, () => open(redis, events));
      const by = (i: number) => gateways[i] as ReturnType<typeof open>;
      const made = new Map<string, Numbers>();
      for (const [i, one] of steps.entries()) {
        if ("update" in one) {
          const key = `key${one.update}`;
          await by(one.by).update(
            key,
            (latest = []) => [...latest, i],
            () => false,
          );
          made.set(key, [...(made.get(key) ?? []), i]);
        } else if ("save" in one) {
          const key = `key${one.save}`;
          by(one.by).save(new Map([[key, [...(by(one.by).entries().get(key) ?? []), i]]]), false);
          made.set(key, [...(made.get(key) ?? []), i]);
        } else if ("sync" in one) await by(one.sync).sync(true);
        else if ("forgetSince" in one) redis.forgetSince(one.forgetSince);
        else if ("forgetKey" in one) redis.forgetKey(one.forgetKey);
        else redis.forgetLog();
      }
      const syncAll = async () => {
        for (const gateway of gateways) await gateway.sync(true);
      };
      await syncAll();
      await syncAll();
      const before = [events.length, redis.history.length];
      await syncAll();
      expect([events.length, redis.history.length]).toEqual(before);
      const sorted = (entries: ReadonlyMap<string, Numbers>) =>
        [...entries].toSorted(([one], [other]) => (one < other ? -1 : 1));
      for (const gateway of gateways) expect(sorted(gateway.entries())).toEqual(sorted(made));
    }),
    { numRuns: 300 },
  );
});

test("an update is made again of what others have made of it meanwhile", async () => {
  const redis = fakeRedis();
  const [a, b] = [open(redis), open(redis)];
  let rounds = 0;
  const slow: typeof redis = {
    ...redis,
    async run(script, keys, args) {
      if (script === recordScripts.write && rounds === 1)
        await b.update(
          "a",
          (latest = []) => [...latest, 100],
          () => false,
        );
      return redis.run(script, keys, args);
    },
  };
  const c = open(slow);
  await c.update(
    "a",
    (latest = []) => [...latest, ++rounds],
    () => false,
  );
  await a.sync(true);
  expect([rounds, a.entries().get("a")]).toEqual([2, [100, 2]]);
});

test("where others always are faster it is given up", async () => {
  const redis = fakeRedis();
  const refusing = open({
    ...redis,
    run: async (script, ...about) => (script === recordScripts.write ? null : redis.run(script, ...about)),
  });
  const update = refusing.update(
    "a",
    () => [1],
    () => false,
  );
  await expect(update).rejects.toThrow("others change it all the time");
  expect(refusing.entries().size).toBe(0);
});

test("an update given up early is not written; one written too late is reported", async () => {
  const redis = fakeRedis();
  const events: string[] = [];
  const gateway = open(redis, events);
  await expect(
    gateway.update(
      "a",
      () => [1],
      () => true,
    ),
  ).rejects.toThrow("given up");
  expect([redis.history.length, events]).toEqual([1, []]);
  let asked = 0;
  await gateway.update(
    "a",
    () => [1],
    () => asked++ > 0,
  );
  expect(events).toEqual(["changed a"]);
});

test("two values of the same version: neither replaces the other", async () => {
  const redis = fakeRedis();
  const [a, b] = [open(redis, [], false), open(redis, [], false)];
  a.save(new Map([["a", [1]]]), false);
  await a.sync(true);
  redis.forgetSince(0);
  b.save(new Map([["a", [2]]]), false);
  await b.sync(true);
  for (let i = 0; i < 3; i++) {
    await a.sync(true);
    await b.sync(true);
  }
  expect([a.entries().get("a"), b.entries().get("a"), redis.history.length]).toEqual([[2], [2], 3]);
});

test("a minor value gives way to what another gateway has stored meanwhile", async () => {
  const redis = fakeRedis();
  const [a, b] = [open(redis, [], false), open(redis, [], false)];
  a.save(new Map([["a", [1]]]), true);
  await a.sync(false);
  expect(redis.history).toHaveLength(1);
  await a.sync(true);
  await b.sync(true);
  a.save(new Map([["a", [2]]]), true);
  b.save(new Map([["a", [3]]]), true);
  await b.sync(true);
  await a.sync(true);
  expect([a.entries().get("a"), b.entries().get("a")]).toEqual([[3], [3]]);
});

test("thousands of values are written in parts, and read as one change", async () => {
  const redis = fakeRedis();
  const events: string[] = [];
  const [a, b] = [open(redis, [], false), open(redis, events, false)];
  a.save(new Map(Array.from({ length: 1700 }, (_, i) => [`${i}`, [i]])), false);
  await a.sync(true);
  await b.sync(true);
  expect([redis.history.length, b.entries().size, events.length]).toEqual([5, 1700, 1]);
});
