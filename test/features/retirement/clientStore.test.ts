import { expect, onTestFinished, test } from "vitest";
import { openStoredClients } from "../../../src/features/retirement/clientStore.ts";
import { openUsage } from "../../../src/features/retirement/usage.ts";
import { until } from "../../support/waiting.ts";
import { describeWithRedis, startRedis } from "../../store/redis/redisServer.ts";
import { openKeyedStore } from "../../../src/store/openKeyedStore.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const seen = (agent: string, key?: string) => ({
  headers: { "user-agent": agent, ...(key === undefined ? {} : { "x-api-key": key }) },
  target: "/",
});

const opened = async (directory: string) => {
  const errors: string[] = [];
  const { salt, openClients } = await openStoredClients(
    (about) => openKeyedStore({ DATA_DIR: directory }, about),
    ({ message }) => errors.push(message),
  );
  let now = Date.UTC(2026, 10, 21);
  const usage = openUsage(() => now++, salt, openClients);
  onTestFinished(() => usage.close());
  return { ...usage, errors };
};

test("clients survive a restart with their hashes, and are counted on", async () => {
  const directory = temporaryFolder();
  const first = await opened(directory);
  first.note("/a", seen("tool/1", "a key"));
  first.note("/b", seen("tool/1"));
  await first.close();
  const second = await opened(directory);
  second.note("/a", seen("tool/1", "a key"));
  expect(second.list().map(({ path, count }) => [path, count])).toEqual(
    expect.arrayContaining([
      ["/a", 2],
      ["/b", 1],
    ]),
  );
  expect(second.list()).toHaveLength(2);
  expect(second.errors).toEqual([]);
});

describeWithRedis("on one Redis", () => {
  test("two gateways give a key the same hash, and count together", async () => {
    const { url } = await startRedis();
    const open = async () => {
      const { salt, openClients } = await openStoredClients(
        (about) => openKeyedStore({ REDIS_URL: url }, about),
        ({ message }) => expect.unreachable(message),
      );
      const usage = openUsage(() => Date.now(), salt, openClients);
      onTestFinished(() => usage.close());
      return usage;
    };
    const [one, other] = [await open(), await open()];
    one.note("/a", seen("tool/1", "a key"));
    other.note("/a", seen("tool/1", "a key"));
    await one.close();
    await other.close();
    const third = await open();
    await until(() => third.list()[0]?.count === 2);
    expect(third.list()).toHaveLength(1);
  });
});

test("what is stored is bounded: the longest silent are forgotten", async () => {
  const directory = temporaryFolder();
  const { note, list } = await opened(directory);
  for (let i = 0; i < 9000; i++) {
    note(`/${i}`, seen("tool", i % 4 === 0 ? undefined : "a key"));
    if (i % 1500 === 0) list();
  }
  const callers = list();
  const anonymous = callers.filter(({ caller }) => caller === "nobody");
  expect([callers.length, anonymous.length]).toEqual([2000, 500]);
  const paths = callers.map(({ path }) => path);
  expect(paths).toContain("/8999");
  expect(paths).not.toContain("/100");
});
