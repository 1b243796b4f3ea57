import { expect, onTestFinished, test } from "vitest";
import { readPairs } from "../../fixtures/pairs.ts";
import { serveHandlers } from "../../fixtures/serveHandlers.ts";
import { readableOf } from "../../src/reading/readAnswer.ts";
import { openReader, type ReaderSettings } from "../../src/reading/reader.ts";
import { catalogue } from "../../transforms/catalogue.ts";
import { expectPair } from "../fixtures/fixtureCheck.ts";
import { gatewayFor } from "../support/gateway.ts";
import { endpoints } from "./badEndpoints.ts";
import { jsonList, modelListFor, ours, settings } from "./modelList.ts";

const badReader = (changed: Partial<ReaderSettings> = {}) => {
  const failed: string[] = [];
  const reader = openReader({
    ...settings,
    endpoints: new Map(Object.entries(endpoints).map(([name, one]) => [name, readableOf(name, one)])),
    module: new URL("./badEndpoints.ts", import.meta.url).href,
    onFailed: (endpoint, why) => failed.push(`${endpoint}: ${why}`),
    ...changed,
  });
  onTestFinished(() => reader.close());
  const read = async (endpoint: string, what: string, readFor = {}) =>
    reader.read({ endpoint, as: "answer", input: {} }, Buffer.from(JSON.stringify({ what })), {
      caller: "one",
      deadline: Date.now() + 30_000,
      ...readFor,
    });
  return { reader, read, failed };
};
const good = expect.objectContaining({ written: expect.objectContaining({ body: Buffer.from('"good"') }) });

test("every fixture pair answers the same through another thread", async () => {
  const legacy = await serveHandlers();
  const gateway = await gatewayFor(legacy.url, { CACHE_BYTES: "0" }, { reading: { large: { json: 0, xml: 0 } } });
  onTestFinished(async () => {
    await gateway.close();
    await legacy.close();
  });
  for (const pair of readPairs()) await expectPair(pair, gateway, legacy);
  expect(gateway.services.reader.size().threads).toBeGreaterThan(0);
});

test("rows come as lines, the same from every thread", async () => {
  const rows = Array.from({ length: 300 }, (_, i) => ({ did: i + 1, name: `Données ${i} ß` }));
  for (const module of [undefined, catalogue.module]) {
    const { ask } = modelListFor(rows, { module });
    const result = await ask("lines");
    const lines = "written" in result ? result.written.body.toString().split("\n") : [];
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(rows.map(ours));
  }
});

test.each([
  ["that throws", "throwing", {}, "a rule that throws"],
  ["that never ends", "busy", { timeout: 2500 }, "it took more than 2500 ms"],
  ["that takes all memory", "hoard", { heap: 32 }, "memory"],
])("a thread %s fails its job alone, and is replaced", async (_, endpoint, changed, why) => {
  const { read, failed } = badReader(changed);
  const both = await Promise.all([read(endpoint, "bad"), read(endpoint, "good")]);
  expect(both).toEqual([{ of: "unread", unread: "broken" }, good]);
  expect(failed).toEqual([expect.stringContaining(why)]);
  expect(await read(endpoint, "good")).toEqual(good);
});

test("a full queue refuses the newest of whoever has the most, others get their turn", async () => {
  const { read } = badReader({ queue: { jobs: 2, bytes: 1e6 }, timeout: 2500 });
  const running = read("stuck", "bad");
  const greedy = [1, 2, 3].map(() => read("throwing", "good", { caller: "greedy" }));
  const other = read("throwing", "good", { caller: "other" });
  expect(await Promise.all(greedy)).toEqual([good, { of: "unread", unread: "full" }, { of: "unread", unread: "full" }]);
  expect(await other).toEqual(good);
  expect(await running).toEqual({ of: "unread", unread: "broken" });
});

test("whoever leaves or is late gives its place back", async () => {
  const { reader, read } = badReader({ timeout: 2500 });
  const leaving = new AbortController();
  const running = read("stuck", "bad");
  const left = read("throwing", "good", { leaving: () => leaving.signal });
  const late = read("throwing", "good", { deadline: Date.now() + 100 });
  expect(reader.size().jobs).toBe(2);
  leaving.abort();
  expect(await left).toEqual({ of: "unread", unread: "left" });
  expect(await late).toEqual({ of: "unread", unread: "late" });
  expect(reader.size().jobs).toBe(0);
  expect(await running).toEqual({ of: "unread", unread: "broken" });
});

test("no thread starts before the first large answer, and an idle one ends", async () => {
  const small = modelListFor([{ did: 1, name: "one" }], { module: catalogue.module, large: { json: 1e5, xml: 1e5 } });
  await small.ask();
  const { reader, read } = badReader({ idle: 100 });
  expect(reader.size().threads).toBe(0);
  await read("throwing", "good");
  expect(reader.size().threads).toBe(1);
  await expect.poll(() => reader.size().threads).toBe(0);
});

test("a closed reader answers what waits, and ends its threads", async () => {
  const { reader, read } = badReader();
  const both = [read("stuck", "bad"), read("stuck", "bad")];
  await reader.close();
  expect(await Promise.all(both)).toEqual([
    { of: "unread", unread: "broken" },
    { of: "unread", unread: "broken" },
  ]);
  expect(reader.size()).toEqual({ threads: 0, jobs: 0, bytes: 0 });
});

test("a list too large for the queue is 503 with Retry-After; a failed thread is 502", async () => {
  const body = jsonList(Array.from({ length: 400 }, (_, i) => ({ did: i + 1, name: `n${i}` })));
  const { createServer } = await import("node:http");
  const legacy = createServer((_, response) => response.end(body));
  await new Promise<void>((resolve) => void legacy.listen(0, "127.0.0.1", resolve));
  const address = legacy.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  onTestFinished(() => void legacy.close());
  const answers = async (reading: Partial<ReaderSettings>) => {
    const gateway = await gatewayFor(url, { CACHE_BYTES: "0" }, { reading });
    onTestFinished(() => gateway.close());
    const response = await gateway.app.request("/v1/datasets/list");
    return [response.status, response.headers.get("retry-after"), Object.keys((await response.json()) as object)];
  };
  const large = { json: 1000, xml: 1000 };
  expect(await answers({ large, queue: { jobs: 1, bytes: 1000 } })).toEqual([503, "5", ["detail"]]);
  const broken = new URL("./noSuchModule.ts", import.meta.url).href;
  expect(await answers({ large, module: broken })).toEqual([502, null, ["detail"]]);
});
