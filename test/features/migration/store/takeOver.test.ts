import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MigrationState } from "../../../../src/features/migration/store/stateStore.ts";
import { earlier, earlierCommands } from "../../../store/earlier.ts";
import { describeWithRedis, startRedis } from "../../../store/redis/redisServer.ts";
import { wait } from "./instances.ts";
import { at, entry, moveOn, moveTo, stage } from "./moves.ts";
import { openFile, openRedis } from "./support.ts";
import { until } from "../../../support/waiting.ts";
import { temporaryFolder } from "../../../support/temporaryFolder.ts";

const KEY = "catalog-gateway:1:migration:";

/** The state that version 0.1 has stored in its file and in Redis. */
const { format: _, ...stored } = JSON.parse(readFileSync(earlier("migration.json"), "utf8")) as MigrationState & {
  format: 1;
};
const byId = ({ expected, ...state }: MigrationState): MigrationState => ({
  ...state,
  expected: expected.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
});

test("the file of version 0.1 is taken over once, whole, and stays as it is", async () => {
  const directory = temporaryFolder();
  const file = join(directory, "migration.json");
  copyFileSync(earlier("migration.json"), file);
  const first = await openFile(directory);
  expect([byId(first.state()), first.events]).toEqual([byId(stored), []]);
  expect(Object.keys(stored.stages)).toHaveLength(2);
  await moveOn(first, "getThing", 9, "legacy");
  await first.close();
  const second = await openFile(directory);
  expect(second.state().stages["getThing"]?.since).toBe(at(9));
  expect(second.state().audit.slice(1)).toEqual(stored.audit);
  expect(readFileSync(file)).toEqual(readFileSync(earlier("migration.json")));
});

describeWithRedis("the keys of version 0.1 in Redis", () => {
  test("two gateways that start at once take over all of them and leave them there", async () => {
    const redis = await startRedis();
    const commands = earlierCommands("migration");
    await redis.talk(...commands);
    const before = await redis.talk(`HGETALL ${KEY}stages`, `LRANGE ${KEY}audit 0 -1`, `HGETALL ${KEY}expected`);
    const [a, b] = await Promise.all([openRedis(redis.url), openRedis(redis.url)]);
    expect([byId(a.state()), byId(b.state())]).toEqual([byId(stored), byId(stored)]);
    expect(await moveOn(a, "getThing", 9, "legacy")).toBe(true);
    await until(() => b.state().audit.length === 4);
    const later = await openRedis(redis.url);
    expect(byId(later.state())).toEqual(byId(a.state()));
    expect(later.state().stages["getThing"]?.since).toBe(at(9));
    expect([...a.events, ...b.events, ...later.events]).toEqual([]);
    expect(await redis.talk(`HGETALL ${KEY}stages`, `LRANGE ${KEY}audit 0 -1`, `HGETALL ${KEY}expected`)).toBe(before);
  });

  test("a move by an old gateway is followed, unless a new one has moved it later", async () => {
    const redis = await startRedis();
    await redis.talk(...earlierCommands("migration"));
    const [a, b] = [await openRedis(redis.url), await openRedis(redis.url)];
    await moveOn(a, "listThings", 30, "modern");
    const oldMoves = async (endpoint: string, second: number) => {
      const to = stage(second, "legacy");
      const json = (value: unknown) => JSON.stringify(JSON.stringify(value));
      await redis.talk(
        `HSET ${KEY}stages ${endpoint} ${json({ version: 6, stage: to })}`,
        `LPUSH ${KEY}audit ${json(moveTo(endpoint, to))}`,
        `SET ${KEY}version ${second}.another`,
      );
    };
    await oldMoves("getThing", 20);
    await oldMoves("listThings", 25);
    await until(() => b.state().audit.length === 6);
    await wait(1200);
    for (const one of [a, b]) {
      expect(one.state().stages).toMatchObject({ getThing: { since: at(20) }, listThings: { since: at(30) } });
      expect(one.state().audit.map((move) => move.at)).toEqual([30, 25, 20, 3, 2, 1].map(at));
    }
    await redis.talk("FLUSHALL");
    await until(() => [...a.events, ...b.events].some((event) => event.includes("restored")));
    expect((await openRedis(redis.url)).state().audit).toHaveLength(6);
  });

  test("a value in them that is not readable is reported and left out", async () => {
    const redis = await startRedis();
    await redis.talk(...earlierCommands("migration"), `HSET ${KEY}stages getThing garbage`, `LPUSH ${KEY}audit x`);
    const a = await openRedis(redis.url);
    expect([Object.keys(a.state().stages), a.state().audit]).toEqual([["listThings"], stored.audit]);
    expect(a.events).toEqual([
      'migration_store_unreadable {"endpoint":"getThing"}',
      'migration_store_unreadable {"audit":"a line"}',
    ]);
    expect(await a.expect(entry("one"))).toBe(false);
  });
});
