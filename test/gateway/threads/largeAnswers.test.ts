import { expect, onTestFinished, test } from "vitest";
import { readPairs } from "../../../fixtures/pairs.ts";
import { serveHandlers } from "../../../fixtures/serveHandlers.ts";
import type { ReaderSettings } from "../../../src/gateway/threads/reader.ts";
import { expectPair } from "../../fixtures/fixtureCheck.ts";
import { httpUpstream } from "../proxy/support.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { until } from "../../support/waiting.ts";
import { valueOf } from "../../support/metrics.ts";

type DatasetRow = { did: number; name: string };

const jsonRow = ({ did, name }: DatasetRow): string =>
  `  {"did":${did},\n   "name":"${name}",\n   "version":1,\n   "status":"active",\n   "format":"ARFF",\n   "md5_checksum":"",\n      "file_id": ${did},\n      "quality":[\n        {"name":"NumberOfClasses",\n     "value":"3.0"\n    }\n            ]\n      }\n  `;
const xmlRow = ({ did, name }: DatasetRow): string =>
  `    <oml:dataset>\n    <oml:did>${did}</oml:did>\n    <oml:name>${name}</oml:name>\n    <oml:version>1</oml:version>\n    <oml:uploader>1</oml:uploader>\n    <oml:status>active</oml:status>\n    <oml:format>ARFF</oml:format>\n        <oml:file_id>${did}</oml:file_id> \n            <oml:quality name="NumberOfClasses">3.0</oml:quality>\n      </oml:dataset>\n`;

/** Legacy's two templates of the dataset list, neither of which escapes a name. */
const jsonList = (rows: readonly DatasetRow[]): string =>
  `{"data":{"dataset":[\n  ${rows.map(jsonRow).join(",")}  ]}\n}\n`;
const xmlList = (rows: readonly DatasetRow[]): string =>
  `<oml:data xmlns:oml="http://openml.org/openml">\n${rows.map(xmlRow).join("")}  </oml:data>\n`;

/** The same row as the new interface has it. */
const ours = ({ did, name }: DatasetRow) => ({
  did,
  name,
  version: 1,
  format: "arff",
  file_id: did,
  status: "active",
  md5_checksum: null,
  quality: [{ name: "NumberOfClasses", value: 3 }],
});

/** `count` rows. */
const datasetRows = (count: number, name = "Données ß"): DatasetRow[] =>
  Array.from({ length: count }, (_, i) => ({ did: i + 1, name }));

const badEndpoints = new URL("./badEndpoints.ts", import.meta.url).href;
const small = { large: { json: 1000, xml: 1000 } };

/**
 * A gateway without a cache that reads in one thread, in front of a legacy whose list has the tag as the name of each
 * dataset: `broken` is in no readable JSON.
 */
const gatewayWith = async (reading: Partial<ReaderSettings>, environment: Record<string, string> = {}, rows = 20) => {
  const url = await httpUpstream(({ url: target = "" }, response) => {
    const [, name = ""] = /\/tag\/(\w+)/.exec(target) ?? [];
    const isJson = target.includes("/json/");
    const all = datasetRows(rows, isJson && name === "broken" ? 'a "name"' : name);
    response.end(isJson ? jsonList(all) : xmlList(all));
  });
  const gateway = await gatewayFor(url, { CACHE_BYTES: "0", ...environment }, { reading: { threads: 1, ...reading } });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= gateway.close());
  onTestFinished(close);
  const { reader, dependencies, meter } = gateway.core;
  // A page of more rows than its limit does not fit.
  const ask = async (tag: string) => gateway.app.request(`/v1/data/list/limit/10000/tag/${tag}`);
  return {
    close,
    memory: async () => ({
      held: await valueOf(meter, "memory_bytes"),
      refused: await valueOf(meter, "crowded_total"),
    }),
    reader,
    ask,
    statusOf: async (tag: string) => (await ask(tag)).status,
    isUp: () => dependencies.states().find(({ name }) => name === "reader_threads")?.state === "ok",
    failures: () => gateway.observer.counts()["large_answer_failed listDatasets"] ?? 0,
  };
};

test("each endpoint answers the same through another thread", async () => {
  const legacy = await serveHandlers();
  const gateway = await gatewayFor(legacy.url, { CACHE_BYTES: "0" }, { reading: { large: { json: 0, xml: 0 } } });
  onTestFinished(async () => {
    await gateway.close();
    await legacy.close();
  });
  // A thread adds the way to it and back, no other reading: the plain pairs are enough.
  const pairs = readPairs().filter(({ isPlain }) => isPlain);
  for (const pair of pairs) await expectPair(pair, gateway, legacy);
  expect(gateway.core.reader.size().threads).toBeGreaterThan(0);
});

test.each(["JSON", "broken"])("a list of 10,000 rows comes whole out of a thread: %s", async (tag) => {
  const { reader, ask } = await gatewayWith({}, {}, 10_000);
  expect(reader.size().threads).toBe(0);
  const response = await ask(tag);
  expect(await response.json()).toEqual(datasetRows(10_000, tag).map(ours));
  expect(reader.size()).toEqual({ threads: 1, waiting: 0, bytes: 0 });
});

test.each([
  ["throws", "fail"],
  ["takes all of its memory", "hoard"],
])("a thread that %s fails its answer alone, and is well again", async (_, fault) => {
  const { reader, statusOf, isUp, failures } = await gatewayWith({ ...small, module: badEndpoints, heap: 64 });
  const bad = statusOf(fault);
  await until(() => reader.size().bytes > 0);
  const isUpAfter = bad.then(isUp);
  // It waits for the same thread.
  expect(await Promise.all([bad, statusOf("good")])).toEqual([502, 200]);
  expect([await isUpAfter, isUp(), failures()]).toEqual([false, true, 1]);
});

test("an answer that is read without end is 504, and its thread is replaced", async () => {
  const { reader, statusOf, failures } = await gatewayWith(
    { ...small, module: badEndpoints, overtime: 500 },
    { TOTAL_TIMEOUT_MS: "3000" },
  );
  // On a busy machine the thread starts too late for the first answers.
  await until(async () => (await statusOf("good")) === 200);
  const failed = failures();
  expect(await statusOf("hang")).toBe(504);
  await until(() => failures() > failed);
  await until(async () => (await statusOf("good")) === 200);
  expect(reader.size().bytes).toBe(0);
});

/** Rows of a list that counts for more than it leaves uncounted, and its bytes in legacy's JSON. */
const MANY = 2000;
const listBytes = jsonList(datasetRows(MANY, "another")).length;
const memoryOf = (lists: number) => ({
  MEMORY_BYTES: String(Math.floor(lists * listBytes)),
  MAX_REPLY_BYTES: String(listBytes),
});

test.each([
  ["answers", { jobs: 2 }, {}],
  ["bytes", {}, memoryOf(2.5)],
])("where there is no room for more %s, the newest is 503 with Retry-After", async (_, bound, environment) => {
  const { reader, ask, statusOf } = await gatewayWith(
    { ...small, module: badEndpoints, overtime: 500, ...bound },
    { TOTAL_TIMEOUT_MS: "3000", ...environment },
    MANY,
  );
  const running = [ask("hang")];
  await until(() => reader.size().bytes > 0);
  running.push(ask("good"));
  await until(() => reader.size().waiting > 0);
  const { status, headers } = await ask("another");
  expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
  expect((await Promise.all(running)).map((answer) => answer.status)).toEqual([504, 504]);
  await until(async () => (await statusOf("good")) === 200);
});

test("an answer keeps its room until its client has it; the next one is refused", async () => {
  const { reader, memory, statusOf } = await gatewayWith({ ...small, module: badEndpoints }, memoryOf(1.5), MANY);
  const first = statusOf("good");
  await until(() => reader.size().bytes > 0);
  expect((await memory()).held).toBeGreaterThan(0);
  expect(await statusOf("another")).toBe(503);
  expect([await first, await memory()]).toEqual([200, { held: 0, refused: 1 }]);
});

test("the bytes of a body that is still read count after its request is answered", async () => {
  const { reader, memory, statusOf } = await gatewayWith(
    { ...small, module: badEndpoints, overtime: 500 },
    { TOTAL_TIMEOUT_MS: "3000", ...memoryOf(1.5) },
    MANY,
  );
  expect(await statusOf("hang")).toBe(504);
  expect((await memory()).held).toBeGreaterThan(0);
  await until(() => reader.size().bytes === 0);
  expect((await memory()).held).toBe(0);
});

test("no thread starts before the first large answer, and an idle one ends", async () => {
  const { reader, statusOf } = await gatewayWith({ ...small, idle: 100 });
  const few = await gatewayWith({});
  expect([await few.statusOf("a"), few.reader.size().threads]).toEqual([200, 0]);
  const asked = statusOf("a");
  await until(() => reader.size().threads === 1);
  expect(await asked).toBe(200);
  await until(() => reader.size().threads === 0);
});

test("a gateway that closes answers the waiting requests, and ends its threads", async () => {
  const { close, reader, statusOf } = await gatewayWith({ ...small, module: badEndpoints });
  const running = statusOf("hang");
  await until(() => reader.size().bytes > 0);
  const waiting = statusOf("good");
  await until(() => reader.size().waiting > 0);
  await close();
  expect(await Promise.all([running, waiting])).toEqual([502, 502]);
  expect(reader.size()).toEqual({ threads: 0, waiting: 0, bytes: 0 });
});

test("threads that cannot load the endpoints make an answer 502", async () => {
  const { statusOf, failures } = await gatewayWith({
    ...small,
    module: new URL("./noSuchModule.ts", import.meta.url).href,
  });
  expect([await statusOf("good"), failures()]).toEqual([502, 1]);
});
