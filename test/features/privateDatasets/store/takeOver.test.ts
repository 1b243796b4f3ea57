import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Kept } from "../../../../src/features/privateDatasets/rows.ts";
import { earlier, earlierCommands } from "../../../store/earlier.ts";
import { describeWithRedis, startRedis } from "../../../store/redis/redisServer.ts";
import { openRedis, walkers } from "./instances.ts";
import { row, scope } from "./rows.ts";
import { inDirectory, openWith } from "./support.ts";
import { until } from "../../../support/waiting.ts";
import { temporaryFolder } from "../../../support/temporaryFolder.ts";

const KEY = `catalog-gateway:1:private:${scope}:`;

/** What version 0.1 has stored, in its file and in Redis. */
const good = JSON.parse(readFileSync(earlier("private-rows.json"), "utf8")) as Kept & { format: 1; of: string };
const stored: Kept = { rows: good.rows, walk: good.walk };

test("the file of version 0.1 is taken over once, whole, and stays as it is", async () => {
  const directory = temporaryFolder();
  const file = join(directory, "private-rows.json");
  copyFileSync(earlier("private-rows.json"), file);
  const first = await openWith(inDirectory(directory));
  expect([first.told, first.events, first.known()]).toEqual([["all: 7 9 11 12 walk"], [], stored]);
  first.learn({ gone: [7] });
  await first.store.close();
  const second = await openWith(inDirectory(directory));
  expect(second.known()).toEqual({ ...stored, rows: stored.rows.slice(1) });
  expect(readFileSync(file)).toEqual(readFileSync(earlier("private-rows.json")));
});

test.each([
  ["nothing", "", "is not valid JSON"],
  ["half of it", JSON.stringify(good).slice(0, 60), "is not valid JSON"],
  ["another format", { ...good, format: 2 }, "/format: another version's format; this one reads 1"],
  ["a row without an id", { ...good, rows: [{ shown: {} }] }, "/rows/0/id: "],
  ["what is of another legacy", { ...good, of: "another" }, '"it is of another legacy"'],
  ["an unknown field", { ...good, owner: "olga" }, "owner"],
])("a file with %s is told once and stops nothing", async (_, content, why) => {
  const directory = temporaryFolder();
  const file = join(directory, "private-rows.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  const { store, told, events, learn } = await openWith(inDirectory(directory));
  expect(told).toEqual([]);
  expect(events).toEqual([expect.stringContaining(`private_index_store_unreadable {"file":${JSON.stringify(file)}`)]);
  expect(events[0]).toContain(why);
  learn({ rows: [row(8)] });
  await store.close();
  const next = await openWith(inDirectory(directory));
  expect([next.told, next.events]).toEqual([["all: 8"], []]);
});

describeWithRedis("the keys of version 0.1 in Redis", () => {
  test("are taken over whole, and stay as they are; of the new gateways one crawls", async () => {
    const redis = await startRedis();
    // One of them holds an old gateway's lease.
    await redis.talk(...earlierCommands("private"));
    const read = () => redis.talk(`HGETALL ${KEY}rows`, `GET ${KEY}walk`, `GET ${KEY}version`, `GET ${KEY}walker`);
    const before = await read();
    const [a, b] = await Promise.all([openRedis(redis.url), openRedis(redis.url)]);
    await until(() => [a, b].every(({ known }) => known().rows.length === 4));
    expect([a.known(), b.known()]).toEqual([stored, stored]);
    await until(() => walkers([a, b]).length === 1);
    a.learn({ gone: [7] });
    await until(() => b.known().rows.length === 3);
    const later = await openRedis(redis.url);
    await until(() => later.known().rows.length === 3);
    expect([later.known(), [...a.events, ...b.events, ...later.events]]).toEqual([a.known(), []]);
    expect(await read()).toBe(before);
  });

  test("rows that an old gateway finds during an upgrade are added, and replace none", async () => {
    const redis = await startRedis();
    await redis.talk(...earlierCommands("private"));
    const a = await openRedis(redis.url);
    await until(() => a.known().rows.length === 4);
    a.learn({ rows: [row(9, "newer")], gone: [11] });
    await redis.talk(
      `HSET ${KEY}rows 9 ${JSON.stringify(JSON.stringify(row(9, "older")))} 20 ${JSON.stringify('{"id":20}')}`,
      `SET ${KEY}version 3.5.another`,
    );
    await until(() => a.known().rows.some(({ id }) => id === 20));
    expect(a.known().rows).toEqual([row(7), row(9, "newer"), row(12), { id: 20 }]);
  });

  test("keys of another kind under their names stop nothing", async () => {
    const redis = await startRedis();
    await redis.talk(`SET ${KEY}version 1.1.x`, `SET ${KEY}rows foreign`);
    const a = await openRedis(redis.url);
    a.learn({ rows: [row(1)] });
    await until(() => a.store.mayWalk());
    expect([a.text(), a.events]).toEqual(["1:row 1 @0", []]);
  });
});
