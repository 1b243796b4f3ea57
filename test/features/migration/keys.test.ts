import { afterEach, expect, test, vi } from "vitest";
import { endpoints } from "../../../transforms/index.ts";
import { keys } from "../../gateway/answer/support.ts";
import { httpUpstream } from "../../gateway/proxy/support.ts";
import { staged } from "./support.ts";

const known = keys.user;
const inModern = { stage: "modern", share: 0 } as const;
const list = "/evaluationmeasures/list";

afterEach(() => void vi.restoreAllMocks());

/** A gateway whose new implementation takes any key, over a legacy that knows keys and can be taken down. */
const open = async (reads: Parameters<typeof staged>[0][string] = inModern) => {
  const asked: unknown[] = [];
  const dataset = JSON.stringify(endpoints.getDataset.exampleAnswer);
  const MODERN_URL = await httpUpstream(({ method, url }, response) => {
    asked.push(url);
    const read = url?.startsWith("/datasets/") ? dataset : '["kappa"]';
    response.setHeader("Content-Type", "application/json");
    response.end(method === "POST" ? '{"data_tag":{"id":61,"tag":["a"]}}' : read);
  });
  const stages = { listEvaluationMeasures: reads, getDataset: inModern, tagDataset: inModern };
  const opened = await staged(stages, { environment: { FORCE_BACKEND: "true", MODERN_URL } });
  let later = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + later);
  return {
    ...opened,
    asked,
    // The cache reads the clock once in a millisecond.
    pass: (ms: number) => new Promise((resolve) => void setTimeout(resolve, 5, (later += ms))),
    read: async (key: string, path = list, headers = {}) =>
      (await opened.ask(path, { ...headers, "X-API-Key": key })).status,
    tag: async (key: string) => {
      const headers = { "X-API-Key": key, "Content-Type": "application/json" };
      const body = '{"data_id":61,"tag":"a"}';
      return (await opened.ask("/datasets/tag", headers, { method: "POST", body })).status;
    },
  };
};

test("where modern answers, legacy verifies the key first: a wrong key is 401", async () => {
  const { ask, tag, asked } = await open();
  expect(await ask(list, { "X-API-Key": keys.unknown })).toMatchObject({
    status: 401,
    decision: "stage=modern; backend=gateway; reason=credential",
  });
  expect(await tag(keys.unknown)).toBe(401);
  expect(asked).toEqual([]);
  expect((await ask(list)).decision).toBe("stage=modern; backend=modern; reason=stage");
});

test("without legacy, a key that it accepted within the hour counts; others get 503", async () => {
  const { read, tag, asked, legacy, pass } = await open();
  expect(await tag(known)).toBe(200);
  await legacy.close();
  await pass(59 * 60_000);
  expect([await read(known), await read(known, `${list}?limit=1`)]).toEqual([200, 422]);
  const count = asked.length;
  expect([await read(keys.owner), await read(keys.owner, `${list}?limit=1`)]).toEqual([503, 503]);
  await pass(60_000);
  expect([await read(known), await tag(known)]).toEqual([503, 503]);
  expect(asked).toHaveLength(count);
});

test.each([
  ["a caller of the canary", { stage: "canary", share: 100 } as const, {}],
  ["a request that names modern", { stage: "legacy" } as const, { "Gateway-Backend": "modern" }],
])("legacy is not needed for bad input of %s", async (_, reads, headers) => {
  const { read, pass, legacy } = await open(reads);
  expect(await read(known, list, headers)).toBe(200);
  await legacy.close();
  await pass(59 * 60_000);
  expect(await read(known, `${list}?limit=1`, headers)).toBe(422);
  expect(await read(keys.owner, `${list}?limit=1`, headers)).toBe(503);
});
