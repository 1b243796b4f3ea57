import { describe, expect, test } from "vitest";
import { get, request, send } from "../proxy/support.ts";
import { gatewayFor } from "../support/gateway.ts";
import { listeningGateway, recordingUpstream, xmlError } from "./support.ts";

const KEY = "aBcD0123456789aBcD0123456789aBcD";

describe("what travels to legacy", () => {
  test("a GET carries the key as given in the query, and only who the client is", async () => {
    const { url, seen } = await recordingUpstream();
    const { port } = await listeningGateway(url);
    const { head } = await send(
      port,
      get(
        "/v1/evaluationmeasures/list",
        `Authorization: Bearer ${KEY}`,
        "Cookie: session=1",
        "User-Agent: me/1",
        "X-Other: 1",
        "Accept-Encoding: gzip",
        "X-Forwarded-For: 6.6.6.6",
      ),
    );
    expect(head).not.toMatch(/set-cookie/i);
    expect(head).toMatch(/cache-control: private, no-cache/i);
    expect(seen.map(({ method, target }) => `${method} ${target}`)).toEqual([
      `GET /api/v1/json/evaluationmeasure/list?api_key=${KEY}`,
    ]);
    expect(Object.keys(seen[0]?.headers ?? {}).toSorted()).toEqual([
      "accept",
      "accept-encoding",
      "connection",
      "forwarded",
      "host",
      "user-agent",
      "via",
      "x-forwarded-for",
      "x-forwarded-port",
      "x-forwarded-proto",
      "x-request-id",
    ]);
    expect(seen[0]?.headers).toMatchObject({
      "accept-encoding": "identity",
      "user-agent": "me/1",
      "x-forwarded-for": "127.0.0.1",
      host: url.replace("http://", ""),
    });
  });

  test.each([
    ["a stranger", {}],
    ["a trusted proxy", { TRUSTED_PROXIES: "127.0.0.1" }],
  ])("no host that %s names, since the answer is everybody's", async (_, environment) => {
    const { url, seen } = await recordingUpstream();
    const { port } = await listeningGateway(url, environment);
    const hosts = ["X-Forwarded-Host: one.example", "Forwarded: for=192.0.2.1;host=two.example"];
    await send(port, get("http://three.example:81/v1/evaluationmeasures/list", ...hosts));
    expect(seen[0]?.headers).toMatchObject({ "x-forwarded-port": "80", forwarded: "for=127.0.0.1;proto=http" });
    expect(JSON.stringify(seen[0]?.headers)).not.toMatch(/\.example|:81/);
  });

  test("on a POST: in the form, and the query stays here", async () => {
    const { url, seen } = await recordingUpstream(() => ({ body: '{"setup_tag":{"id":"1","tag":"a"}}' }));
    const { port } = await listeningGateway(url);
    const body = '{"setup_id":1,"tag":"a"}';
    const { head } = await send(
      port,
      request(`POST /v1/setup/tag?api_key=${KEY}`, "Content-Type: application/json", `Content-Length: ${body.length}`),
      body,
    );
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(seen).toMatchObject([
      { method: "POST", target: "/api/v1/json/setup/tag", body: `setup_id=1&tag=a&api_key=${KEY}` },
    ]);
  });
});

describe("the order of checks", () => {
  const wrongKey = () => recordingUpstream(() => xmlError(103, "Authentication failed"));
  const readOnly = () =>
    recordingUpstream(({ method }) =>
      method === "POST"
        ? xmlError(104, "This is a read-only account, it does not have permission for write operations. ")
        : undefined,
    );
  const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{" };

  test.each([
    "/v1/datasets/abc",
    "/v1/datasets/0",
    "/v1/studies/1",
    "/v1/data/list/limit/0",
    "/v1/flow/exists/a%22/1/",
  ])("a wrong key comes before %s", async (path) => {
    const { url, seen } = await wrongKey();
    const { app, close } = await gatewayFor(url);
    expect((await app.request(`${path}?api_key=${KEY}`)).status).toBe(401);
    expect((await app.request(path)).status).not.toBe(401);
    expect(seen).toHaveLength(1);
    await close();
  });

  test("a missing key comes before a bad body, a wrong one and a read-only one too", async () => {
    for (const [upstream, status] of [
      [await wrongKey(), 401],
      [await readOnly(), 403],
    ] as const) {
      const { app, close } = await gatewayFor(upstream.url);
      expect((await app.request("/v1/datasets/tag", post)).status).toBe(401);
      expect(upstream.seen).toHaveLength(0);
      expect((await app.request(`/v1/datasets/tag?api_key=${KEY}`, post)).status).toBe(status);
      await close();
    }
  });

  test("legacy is asked about a good key once in a minute, about a wrong one each time", async () => {
    const good = await recordingUpstream();
    const gateway = await gatewayFor(good.url);
    for (let i = 0; i < 3; i++) expect((await gateway.app.request(`/v1/datasets/abc?api_key=${KEY}`)).status).toBe(422);
    expect(good.seen).toHaveLength(1);
    // Legacy ignores the case of keys.
    await gateway.app.request(`/v1/datasets/abc?api_key=${KEY.toLowerCase()}`);
    expect(good.seen).toHaveLength(1);
    await gateway.app.request(`/v1/datasets/abc?api_key=${"0".repeat(32)}`);
    expect(good.seen).toHaveLength(2);
    await gateway.close();

    const wrong = await wrongKey();
    const other = await gatewayFor(wrong.url);
    for (let i = 0; i < 3; i++) expect((await other.app.request(`/v1/datasets/abc?api_key=${KEY}`)).status).toBe(401);
    expect(wrong.seen).toHaveLength(3);
    await other.close();
  });

  test("the gateway's own key is used where legacy needs one; a refusal is an event", async () => {
    const found = await recordingUpstream(() => ({ body: '{"flow_exists":{"exists":"true","id":"7"}}' }));
    const served = await gatewayFor(found.url, { LEGACY_API_KEY: "service", CACHE_BYTES: "0" });
    expect(await (await served.app.request("/v1/flow/exists/a=b/1/")).json()).toEqual({ flow_id: 7 });
    expect(found.seen[0]?.body).toBe("name=a%3Db&external_version=1&api_key=service");
    await served.app.request(`/v1/flow/exists/a=b/1/?api_key=${KEY}`);
    expect(found.seen[1]?.body).toContain(KEY);
    await served.close();

    const refused = await wrongKey();
    const failing = await gatewayFor(refused.url, { LEGACY_API_KEY: "service" });
    const response = await failing.app.request("/v1/flow/exists/a=b/1/");
    expect([response.status, await response.json()]).toMatchObject([
      401,
      { detail: { code: "103", additional_information: expect.any(String) as string } },
    ]);
    expect(failing.observer.counts()).toEqual({ "service_key_refused findFlow": 1 });
    await failing.close();
  });
});
