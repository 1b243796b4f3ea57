import { afterEach, describe, expect, test, vi } from "vitest";
import { recordingUpstream, xmlError } from "../../gateway/http/support.ts";
import { keys, measures } from "../../gateway/answer/support.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { endpoints } from "../../../transforms/index.ts";

const known = keys.user;
const wrong = xmlError(103, "Authentication failed");
const down = { status: 503, body: "<html>maintenance</html>" };
const inModern = { stage: "modern", share: 0 };
const stages = (reads: object) =>
  JSON.stringify({ listEvaluationMeasures: reads, getDataset: inModern, tagDataset: inModern });
const dataset = JSON.stringify(endpoints.getDataset.exampleAnswer);

afterEach(() => void vi.restoreAllMocks());

/** A gateway whose new implementation takes any key, and a legacy that knows one and can be taken down. */
const open = async (reads: object = inModern, environment: Record<string, string> = {}) => {
  let isDown = false;
  const legacy = await recordingUpstream(({ target, body }) => {
    if (isDown) return down;
    return `${target} ${body}`.includes(known) ? { body: measures } : wrong;
  });
  const modern = await recordingUpstream(({ method, target }) => {
    if (method === "POST") return { body: '{"data_tag":{"id":61,"tag":["a"]}}' };
    return { body: target.startsWith("/datasets/") ? dataset : '["kappa"]' };
  });
  const { app } = await gatewayFor(legacy.url, { MODERN_URL: modern.url, STAGES: stages(reads), ...environment });
  const answered = async (response: Response | Promise<Response>) => {
    const { status, headers } = await response;
    return { status, decision: headers.get("gateway-decision"), retryAfter: headers.get("retry-after") };
  };
  let later = 0;
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + later);
  return {
    legacy: legacy.seen,
    modern: modern.seen,
    takeDown: () => void (isDown = true),
    // The cache reads the clock once in a millisecond.
    pass: (ms: number) => new Promise((resolve) => void setTimeout(resolve, 5, (later += ms))),
    read: (key?: string, query = "", headers: Record<string, string> = {}) =>
      answered(
        app.request(`/v1/evaluationmeasures/list${query}`, {
          headers: key === undefined ? headers : { ...headers, "X-API-Key": key },
        }),
      ),
    tag: (key: string) =>
      answered(
        app.request("/v1/datasets/tag", {
          method: "POST",
          headers: { "X-API-Key": key, "Content-Type": "application/json" },
          body: '{"data_id":61,"tag":"a"}',
        }),
      ),
  };
};

describe("where modern answers, a given key is verified with legacy", () => {
  test("a wrong key is 401, for a read and a write, and modern is not asked", async () => {
    const { read, tag, modern } = await open();
    const refused = { status: 401, decision: "stage=modern; backend=gateway; reason=credential" };
    expect(await read(keys.unknown)).toMatchObject(refused);
    expect(await tag(keys.unknown)).toMatchObject(refused);
    expect(modern).toEqual([]);
    expect(await read()).toMatchObject({ status: 200, decision: "stage=modern; backend=modern; reason=stage" });
  });

  test("at most once a minute", async () => {
    const { read, legacy, modern, pass } = await open();
    for (let i = 0; i < 3; i++) expect((await read(known)).status).toBe(200);
    expect(legacy).toHaveLength(1);
    await pass(61_000);
    expect((await read(known)).status).toBe(200);
    expect(legacy).toHaveLength(2);
    expect(modern).toHaveLength(4);
  });

  test("without legacy, a key that it accepted within the hour counts; others get 503", async () => {
    const { read, tag, modern, pass, takeDown } = await open();
    expect((await tag(known)).status).toBe(200);
    takeDown();
    await pass(59 * 60_000);
    expect((await read(known)).status).toBe(200);
    expect((await tag(known)).status).toBe(200);
    expect((await read(known, "?limit=1")).status).toBe(422);
    const asked = modern.length;
    expect(await read(keys.owner)).toMatchObject({ status: 503, retryAfter: "5" });
    expect((await read(keys.owner, "?limit=1")).status).toBe(503);
    await pass(60_000);
    expect((await read(known)).status).toBe(503);
    expect((await tag(known)).status).toBe(503);
    expect(modern).toHaveLength(asked);
  });

  test.each([
    ["a caller of the canary", { stage: "canary", share: 100 }, {}],
    ["a request that names modern", { stage: "legacy" }, { "Gateway-Backend": "modern" }],
  ])("legacy is not needed for bad input of %s", async (_, reads, headers) => {
    const { read, pass, takeDown } = await open(reads, { FORCE_BACKEND: "true" });
    expect((await read(known, "", headers)).status).toBe(200);
    takeDown();
    await pass(59 * 60_000);
    expect((await read(known, "?limit=1", headers)).status).toBe(422);
    expect((await read(keys.owner, "?limit=1", headers)).status).toBe(503);
    // Legacy answers this one.
    expect((await read(keys.owner, "?limit=1", { "Gateway-Backend": "legacy" })).status).toBe(502);
  });
});
