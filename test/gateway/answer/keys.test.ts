import { afterEach, describe, expect, test, vi } from "vitest";
import { recordingUpstream, type Seen, xmlError } from "../http/support.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { keys } from "./support.ts";

const K = keys.unknown;
const wrong = xmlError(103, "Authentication failed");
const readOnly = xmlError(104, "This is a read-only account.");
type Reply = ReturnType<Parameters<typeof recordingUpstream>[0] & object>;

/** A gateway over a legacy whose answer can be exchanged. */
const open = async (first?: Reply) => {
  let reply: Reply = first;
  const { url, seen } = await recordingUpstream(({ method }: Seen) =>
    method === "POST" && reply === readOnly ? readOnly : reply,
  );
  const gateway = await gatewayFor(url);
  const ask = async (path: string, key = K) =>
    (await gateway.app.request(path, { headers: { "X-API-Key": key } })).status;
  const post = async (body: string, key = K) => {
    const headers = { "X-API-Key": key, "Content-Type": "application/json" };
    return (await gateway.app.request("/v1/datasets/tag", { method: "POST", headers, body })).status;
  };
  return { ...gateway, seen, ask, post, now: (next: Reply) => void (reply = next) };
};

afterEach(() => void vi.restoreAllMocks());

describe("legacy's answer about a key", () => {
  test("legacy is asked about a key once a minute", async () => {
    let later = 0;
    // The cache reads the clock once in a millisecond.
    const pass = (ms: number) => new Promise((resolve) => void setTimeout(resolve, 5, (later = ms)));
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + later);
    const { ask, seen } = await open();
    for (let i = 0; i < 3; i++) expect(await ask("/v1/datasets/abc")).toBe(422);
    await pass(59_000);
    expect(await ask("/v1/datasets/abc")).toBe(422);
    expect(seen).toHaveLength(1);
    await pass(61_000);
    expect(await ask("/v1/datasets/abc")).toBe(422);
    expect(seen).toHaveLength(2);
    expect(new Set(seen.map(({ target }) => target))).toEqual(
      new Set([`/api/v1/json/evaluationmeasure/list?api_key=${K}`]),
    );
  });

  test("an answer about a key counts for all its spellings; it is asked as it was typed", async () => {
    const { ask, seen } = await open();
    for (const key of [K, K.toLowerCase(), K.toUpperCase(), keys.user]) await ask("/v1/datasets/abc", key);
    expect(seen.map(({ target }) => target.split("api_key=")[1])).toEqual([K, keys.user]);
  });

  test("a key is known from the answer to a request, without a verification", async () => {
    const { ask, seen } = await open();
    expect(await ask("/v1/evaluationmeasures/list")).toBe(200);
    expect(await ask("/v1/datasets/abc")).toBe(422);
    expect(seen).toHaveLength(1);
  });

  test("a wrong key is not remembered as good, nor for long", async () => {
    const { ask, seen, now } = await open(wrong);
    expect(await ask("/v1/datasets/1")).toBe(401);
    expect(await ask("/v1/datasets/abc")).toBe(401);
    expect(await ask("/v1/datasets/abc")).toBe(401);
    expect(seen).toHaveLength(3);
    now(undefined);
    expect(await ask("/v1/datasets/abc")).toBe(422);
  });

  test("a key that legacy accepted is forgotten as soon as legacy refuses it", async () => {
    const { ask, now } = await open();
    expect(await ask("/v1/datasets/abc")).toBe(422);
    now(wrong);
    expect(await ask("/v1/setup/4")).toBe(401);
    // If the gateway knew the key as good, it would ask legacy nothing here.
    expect(await ask("/v1/datasets/abc")).toBe(401);
  });

  test("the refusal of a write counts for writes only", async () => {
    const { ask, post, seen } = await open(readOnly);
    for (let i = 0; i < 3; i++) expect(await post("{")).toBe(403);
    expect(await ask("/v1/datasets/abc")).toBe(422);
    expect(seen.map(({ method, target, body }) => `${method} ${target} ${body}`)).toEqual([
      `POST /api/v1/json/data/tag api_key=${K}`,
    ]);
  });

  test("a key that may read may not write yet", async () => {
    const { ask, post, seen } = await open(readOnly);
    expect(await ask("/v1/datasets/abc")).toBe(422);
    expect(await post("{")).toBe(403);
    expect(seen.map(({ method }) => method)).toEqual(["GET", "POST"]);
  });

  test.each([
    ["unreachable or empty", { status: 500, body: "" }, 502],
    ["an HTML page", { status: 503, body: "<html>busy</html>" }, 502],
    ["database down", xmlError(107, "Database connection failed"), 503],
  ])("nothing is known of a key after %s", async (_, reply, status) => {
    const { ask, now } = await open(reply);
    expect(await ask("/v1/datasets/abc")).toBe(status);
    now(wrong);
    expect(await ask("/v1/datasets/abc")).toBe(401);
  });

  test.each([
    ["a front's 503 in JSON", { status: 503, body: '{"message":"busy"}' }],
    ["a front's 429 in JSON", { status: 429, body: '{"message":"slow down"}' }],
    ["an unknown code", xmlError(9999, "Something new")],
  ])("%s makes no wrong key good, on any path", async (_, reply) => {
    const { ask, now } = await open(reply);
    for (const path of ["/v1/datasets/abc", "/v1/datasets/1"]) {
      now(reply);
      expect(await ask(path)).toBeGreaterThan(400);
      now(wrong);
      expect(await ask("/v1/datasets/abc")).toBe(401);
    }
  });

  test("simultaneous requests with a key share one verification", async () => {
    const { ask, seen } = await open();
    await Promise.all(Array.from({ length: 5 }, () => ask("/v1/datasets/abc")));
    expect(seen).toHaveLength(1);
  });
});

describe("the gateway's own key", () => {
  const flow = "/v1/flow/exists/a=b/1/";

  test("LEGACY_API_KEY is used where legacy needs a key and the caller has none", async () => {
    const { url, seen } = await recordingUpstream(() => ({ body: '{"flow_exists":{"exists":"true","id":"7"}}' }));
    const { app } = await gatewayFor(url, { LEGACY_API_KEY: "service", CACHE_BYTES: "0" });
    expect(await (await app.request(flow)).json()).toEqual({ flow_id: 7 });
    await app.request(`${flow}?api_key=${K}`);
    const form = "name=a%3Db&external_version=1&api_key=";
    expect(seen.map(({ body }) => body)).toEqual([`${form}service`, `${form}${K}`]);
  });

  test("if legacy refuses LEGACY_API_KEY, that is an event, and a trouble while it lasts", async () => {
    let reply: typeof wrong = wrong;
    const { url } = await recordingUpstream(() => reply);
    const { app, observer, core } = await gatewayFor(url, { LEGACY_API_KEY: "service" });
    const failed = () => core.dependencies.failed().map(({ trouble }) => trouble);
    expect(failed()).toEqual([]);
    const response = await app.request(flow);
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { detail: { code: "103", additional_information: expect.any(String) as string } },
    ]);
    expect(observer.counts()).toEqual({ "service_key_refused findFlow": 1 });
    expect(failed()).toEqual(["Legacy has been refusing LEGACY_API_KEY"]);
    reply = { ...wrong, status: 200, body: '{"flow_exists":{"exists":"true","id":"7"}}' };
    expect((await app.request(flow)).status).toBe(200);
    expect(failed()).toEqual([]);
  });
});
