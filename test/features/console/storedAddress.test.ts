import { expect, test } from "vitest";
import { clock } from "../../gateway/cache/support.ts";
import { until } from "../../support/waiting.ts";
import { staged } from "../migration/support.ts";
import { operatorsOf } from "./page/operators.ts";

const key = "0123456789abcdef0123456789abcdef";
const minute = 60_000;

/** A gateway that caches both interfaces, and its operators. */
const cachingBoth = async (environment: Record<string, string> = {}) => {
  const opened = await staged({}, { environment: { MODERN_URL: "", CACHE_LEGACY: "all", ...environment } });
  const { app } = await operatorsOf(opened);
  const headers = { Host: "127.0.0.1", "Content-Type": "application/json" };
  const purge = async (url: string) =>
    app.request("/purge", { method: "POST", headers, body: JSON.stringify({ url }) });
  return {
    ...opened,
    purge,
    find: async (url: string) => app.request(`/cache?url=${encodeURIComponent(url)}`, { headers }),
    read: async (path: string) => (await fetch(`http://127.0.0.1:${opened.port}${path}`)).headers.get("cache-status"),
  };
};

test.each([
  ["the new interface", "/v1/datasets/61", "getDataset", ["dataset/61"]],
  ["a list in pairs", "/v1/data/list/limit/5", "listDatasets", ["datasets"]],
  ["a list by another route", "/v1/evaluationmeasures/list", "listEvaluationMeasures", ["evaluationmeasures"]],
  ["old clients", "/api/v1/json/data/61", "legacy getDataset", ["dataset/61"]],
])("an address of %s shows its entries; a purge removes them", async (_, path, endpoint, groups) => {
  const { find, purge, read } = await cachingBoth();
  const stored = async (url = path) => ((await (await find(url)).json()) as { answers: object[] }).answers;
  expect(await stored()).toEqual([]);
  await read(path);
  const [first, ...others] = await stored();
  expect(others).toEqual([]);
  expect(first).toMatchObject({ endpoint, status: 200, freshness: "fresh", failures: 0 });
  expect((first as { groups: string[] }).groups).toEqual(expect.arrayContaining(groups));
  expect(first).not.toHaveProperty("why");
  expect(await stored(`https://u:p@gateway.example${path}?api_key=${key}`)).toHaveLength(1);
  expect(await read(path)).toContain("hit");
  expect(await stored(` ${path}\n`)).toHaveLength(1);
  const answer = await purge(` http://gateway.example${path}?api_key=${key}\n`);
  expect([answer.status, await answer.json()]).toEqual([200, { purged: { url: path } }]);
  expect(await stored()).toEqual([]);
  expect(await read(path)).not.toContain("hit");
});

test("a stale answer says why, and how its refreshes ended", async () => {
  const { pass } = clock();
  const { find, read, legacy } = await cachingBoth();
  const path = "/api/v1/json/data/61";
  await read(path);
  pass(30 * minute);
  const stored = async () => ((await (await find(path)).json()) as { answers: Record<string, unknown>[] }).answers[0];
  expect(await stored()).toMatchObject({ freshness: "stale", why: "its time is over", failures: 0 });
  await legacy.close();
  await read(path);
  await until(async () => (await stored())?.["failures"] === 1);
  expect(await stored()).toHaveProperty("retryAt");
});

test.each(["/v1/nothing", "/v1/datasets/none", "/other", "", "/api/v1/json/data/61/..", "%", "x".repeat(5000)])(
  "what is the address of no read is refused: %j",
  async (url) => {
    const { find, purge } = await cachingBoth();
    for (const answer of [await find(url), await purge(url)]) {
      expect([answer.status, await answer.json()]).toEqual([422, { detail: expect.any(String) as unknown }]);
    }
  },
);

test("no answer shows a key of the address", async () => {
  const { find, purge, read } = await cachingBoth();
  await read("/v1/datasets/61");
  for (const url of [`/v1/datasets/61?api_key=${key}`, `/v1/datasets/${key}`, `/api/v1/json/data/61?api_key=${key}`])
    for (const answer of [await find(url), await purge(url)]) expect(await answer.text()).not.toContain(key);
});
