import { expect, test } from "vitest";
import { clock } from "../../../gateway/cache/support.ts";
import { operated } from "../../console/operated.ts";

test("GET /clients: callers of legacy, the newest first, or those below ?path=", async () => {
  const { pass } = clock();
  const { ask, see } = await operated();
  const key = "a".repeat(32);
  await ask(`/api/v1/json/data/61?api_key=${key}`, { "User-Agent": `old/1 ${key}` });
  await ask("/v1/datasets/61", { "User-Agent": "new/1" });
  pass(1000);
  await ask("/api/v1/xml/study/1", { "User-Agent": "old/2" });
  const body = await (await see("/clients")).text();
  expect(body).not.toContain("aaaa");
  const rows = JSON.parse(body) as Record<string, unknown>[];
  expect(rows).toMatchObject([
    { caller: "nobody", agent: "old/2", path: "/api/v1/xml/study/{id}", count: 1, last: "2026-11-21T12:00:02.000Z" },
    { agent: "old/1 (not shown)", path: "/api/v1/json/data/{id}", count: 1, first: "2026-11-21T12:00:01.000Z" },
  ]);
  expect(await (await see("/clients?path=/api/v1/json")).json()).toEqual(rows.slice(1));
  expect(await (await see("/clients?path=/api/v1/js")).json()).toEqual([]);
});
