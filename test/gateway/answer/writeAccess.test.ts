import { describe, expect, test } from "vitest";
import { alice, bob, cachedGateway, clock, tierWith } from "../cache/support.ts";
import { recordingUpstream, xmlError } from "../http/support.ts";
import { gatewayFor } from "../../support/gateway.ts";

const tag = { data_id: 61, tag: "a" };
const read = "GET /data/61 as alice";
const written = "POST /data/tag as alice";

describe("before a dataset is tagged or untagged", () => {
  test.each(["tag", "untag"])("the gateway reads it with the caller's key: %s", async (action) => {
    const { legacy, post, as } = await cachedGateway();
    expect((await post(`/v1/datasets/${action}`, tag, as(alice))).status).toBe(200);
    expect(legacy.asked).toEqual([read, `POST /data/${action} as alice`]);
  });

  test("a caller without access is refused, and nothing is sent or dropped", async () => {
    const { legacy, ask, post, as } = await cachedGateway();
    await ask("/v1/datasets/list");
    legacy.privateTo = bob;
    const { status, body, headers } = await post("/v1/datasets/tag", tag, as(alice));
    expect([status, body]).toEqual([403, '{"detail":{"code":"112","message":"No access granted"}}']);
    expect(headers.get("gateway-decision")).toBe("stage=legacy; backend=gateway; reason=access");
    expect(legacy.asked.filter((line) => line.startsWith("POST"))).toEqual([]);
    expect((await ask("/v1/datasets/list")).how).toMatch(/^hit/);
  });

  test("an answer cached for the caller is enough for a minute", async () => {
    const { pass } = clock();
    const { legacy, ask, post, as } = await cachedGateway();
    const own = as(alice);
    for (const [path, isPublic] of [
      ["/v1/datasets/61", false],
      ["/v1/datasets/61", true],
    ] as const) {
      await ask("/v1/datasets/abc", own);
      await ask(path, isPublic ? {} : own);
      legacy.asked.length = 0;
      await post("/v1/datasets/tag", tag, own);
      expect(legacy.asked).toEqual([written]);
      await ask(path, isPublic ? {} : own);
      pass(61_000);
      await ask("/v1/datasets/abc", own);
      legacy.asked.length = 0;
      await post("/v1/datasets/tag", tag, own);
      expect(legacy.asked).toEqual([read, written]);
    }
  });

  test("an answer cached for another caller is not enough", async () => {
    const { legacy, ask, post, as } = await cachedGateway();
    legacy.privateTo = bob;
    await ask("/v1/datasets/61", as(bob));
    await ask("/v1/datasets/abc", as(alice));
    expect((await post("/v1/datasets/tag", tag, as(alice))).status).toBe(403);
  });

  test("an answer that is served because legacy fails is not enough", async () => {
    let isTrusted = true;
    const tier = tierWith({ trusted: () => isTrusted });
    const { legacy, ask, post, as } = await cachedGateway({}, undefined, {
      openTier: () => () => tier,
    });
    await ask("/v1/datasets/abc", as(alice));
    await ask("/v1/datasets/61");
    isTrusted = false;
    Object.assign(legacy, { trouble: "empty-500", sparesProbes: true });
    expect((await ask("/v1/datasets/61", as(alice))).how).toMatch(/stale-if-error$/);
    const { status, body } = await post("/v1/datasets/tag", tag, as(alice));
    expect([status, body]).toEqual([502, expect.stringContaining("could not be found out")]);
    expect(legacy.asked.filter((line) => line.startsWith("POST /data/tag"))).toEqual([]);
  });

  test("a setup is not read", async () => {
    const { legacy, post, as } = await cachedGateway();
    await post("/v1/setup/tag", { setup_id: 3, tag: "a" }, as(alice));
    expect(legacy.asked).toEqual(["POST /setup/tag as alice"]);
  });
});

const json = (status: number, body: unknown) => ({ status, body: JSON.stringify(body) });
const error = (code: number) => json(412, { error: { code: String(code), message: "x" } });

test.each<[string, { status?: number; body: string }, number, boolean]>([
  ["that the dataset is unknown: legacy says so itself", error(111), 404, true],
  ["that it has no file: legacy shows it to no caller", error(113), 404, true],
  ["no access", error(112), 403, false],
  ["a wrong key", xmlError(103, "Authentication failed"), 401, false],
  ["no database", xmlError(107, "Database connection failed"), 503, false],
  ["an empty 500", { status: 500, body: "" }, 502, false],
  ["a page", { status: 200, body: "<html>" }, 502, false],
  ["a document that comes as an error", json(500, { data_set_description: {} }), 502, false],
  ["an unknown code", error(9999), 502, false],
])("legacy's answer to the read is %s", async (_, answer, status, isSent) => {
  const { url, seen } = await recordingUpstream(({ method }) => (method === "GET" ? answer : error(472)));
  const { app } = await gatewayFor(url);
  const headers = { "X-API-Key": alice, "Content-Type": "application/json" };
  const response = await app.request("/v1/datasets/tag", { method: "POST", headers, body: JSON.stringify(tag) });
  expect([response.status, seen.some(({ method }) => method === "POST")]).toEqual([status, isSent]);
});
