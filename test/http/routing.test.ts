import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSampleLegacy, type SampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { get, request, send } from "../proxy/support.ts";
import { gatewayFor, type TestGateway } from "../support/gateway.ts";
import { listeningGateway } from "./support.ts";

const USER = "00000000000000000000000000000000";
let legacy: SampleLegacy;
let gateway: TestGateway;

beforeAll(async () => {
  legacy = await startSampleLegacy();
  gateway = await gatewayFor(legacy.url, { PREFIXES: "/v1,/api/v2" });
});
afterAll(async () => {
  await gateway.close();
  await legacy.close();
});

test.each([
  ["data", "data_id", 4, "/datasets"],
  ["setup", "setup_id", 9, "/setup"],
  ["setup", "setup_id", 11, "/setups"],
])("%s: a tag set at one path is there until it is taken off", async (kind, field, id, path) => {
  const write = (action: string, tag: string) =>
    gateway.app.request(`/v1${path}/${action}/`, {
      method: "POST",
      headers: { "X-API-Key": USER, "Content-Type": "application/json; charset=utf-8" },
      body: JSON.stringify({ [field]: id, tag }),
    });
  expect(await (await write("tag", "one")).json()).toEqual({ [`${kind}_tag`]: { id, tag: ["one"] } });
  expect(await (await write("tag", "2019")).json()).toEqual({ [`${kind}_tag`]: { id, tag: ["2019", "one"] } });
  expect((await write("tag", "one")).status).toBe(409);
  expect(await (await write("untag", "2019")).json()).toEqual({ [`${kind}_untag`]: { id, tag: ["one"] } });
  expect(await (await write("untag", "one")).json()).toEqual({ [`${kind}_untag`]: { id, tag: [] } });
});

test.each([
  ["/v1", 404],
  ["/v1/", 404],
  ["/v1/nothing", 404],
  ["/v1/datasets/61/more", 404],
  ["/v1/datasets//61", 404],
  ["/v1/flow/exists/only-a-name", 404],
  ["/v1/../v1/datasets", 404],
])("%s is no path: %i", async (path, status) => {
  const response = await gateway.app.request(path);
  expect(response.status).toBe(status);
  const nearly = path === "/v1/datasets//61" ? ". Did you mean /v1/datasets/61?" : "";
  expect(await response.json()).toEqual({ detail: `Not Found${nearly}` });
});

test.each([
  ["GET", "/datasets/tag", "POST, OPTIONS"],
  ["DELETE", "/datasets/61", "GET, HEAD, OPTIONS"],
  ["POST", "/datasets/61", "GET, HEAD, OPTIONS"],
  ["PUT", "/datasets/list", "POST, GET, HEAD, OPTIONS"],
  ["POST", "/data/list/limit/2", "GET, HEAD, OPTIONS"],
  ["PATCH", "/setup/untag/", "POST, OPTIONS"],
])("%s %s is a wrong method", async (method, path, allow) => {
  const response = await gateway.app.request(`/v1${path}`, { method });
  expect([response.status, response.headers.get("allow"), await response.json()]).toEqual([
    405,
    allow,
    { detail: "Method Not Allowed" },
  ]);
  const options = await gateway.app.request(`/v1${path}`, {
    method: "OPTIONS",
    headers: { Origin: "http://page.example", "Access-Control-Request-Method": "POST" },
  });
  expect([
    options.status,
    options.headers.get("allow"),
    options.headers.get("access-control-allow-methods"),
    options.headers.get("access-control-allow-origin"),
  ]).toEqual([204, allow, allow, "*"]);
});

test("the body form and the path form of the list answer the same bytes", async () => {
  const body = await gateway.app.request("/v1/datasets/list", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: '{"pagination":{"limit":3,"offset":2},"data_id":[1,2,4,5,61]}',
  });
  const path = await gateway.app.request("/v1/data/list/data_id/1,2,4,5,61/offset/2/limit/3");
  expect(await body.text()).toBe(await path.text());
  expect(body.status).toBe(200);
});

test("only the origins listed may read answers, when some are", async () => {
  const listed = await gatewayFor(legacy.url, { CORS_ORIGINS: "https://a.example,https://b.example" });
  const ask = async (origin: string) =>
    (await listed.app.request("/v1/datasets/61", { headers: { Origin: origin } })).headers;
  expect((await ask("https://b.example")).get("access-control-allow-origin")).toBe("https://b.example");
  expect((await ask("https://c.example")).get("access-control-allow-origin")).toBeNull();
  expect((await ask("https://c.example")).get("vary")).toMatch(/\bOrigin$/);
  await listed.close();
});

describe("over a socket", () => {
  test("what is not below the prefix is legacy's own, cookies and all", async () => {
    const { port } = await listeningGateway(legacy.url);
    const { head, body } = await send(port, get("/api/v1/json/data/61"));
    expect(head).toMatch(/^HTTP\/1\.1 200 OK[^]*Set-Cookie: ci_session=/);
    expect(body).toMatch(/^\{"data_set_description":\{"id":"61"/);
    expect((await send(port, get("/v1x/datasets/61"))).head).toContain("text/html");
    expect((await send(port, get("//v1/datasets/61"))).head).toContain("X-Powered-By");
  });

  test("below / only the listed paths are ours", async () => {
    const { port } = await listeningGateway(legacy.url, { PREFIXES: '["/"]' });
    expect((await send(port, get("/datasets/61"))).body).toMatch(/^\{"id":61,/);
    expect((await send(port, request("DELETE /datasets/61"))).head).toMatch(/^HTTP\/1\.1 405 /);
    expect((await send(port, get("/api/v1/json/data/61"))).body).toMatch(/^\{"data_set_description"/);
    expect((await send(port, get("/nothing"))).head).toContain("text/html");
    expect((await send(port, request("POST /api/v1/json/data/tag", "Content-Length: 0"))).body).toContain(
      "<oml:code>102</oml:code>",
    );
  });

  test.each([
    ["GET http://front.example/v1/datasets/61", 200],
    ["GET /v1/datasets/61#x?api_key=wrong", 200],
    ["GET /v1/datasets/61?api_key=wrong#x", 401],
    ["GET /v1/datasets/%36%31", 200],
    ["GET /v1/datasets/6%2F1", 422],
    ["GET /v1/studies/%2e%2e", 404],
    ["GET /v1/studies/..", 404],
    ["GET /v1/flow/exists/../x/", 401],
    ["GET /v1/flow/exists/a%zz/x/", 401],
    ["GET /v1/flow/exists/a%ff/x/", 502],
  ])("%s: %i", async (line, status) => {
    const { port } = await listeningGateway(legacy.url);
    expect((await send(port, request(line))).head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test("what is no HTTP is answered as JSON", async () => {
    const { port } = await listeningGateway(legacy.url);
    const { head, body } = await send(port, "NONSENSE\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 400 [^]*application\/json/);
    expect(JSON.parse(body)).toEqual({ detail: "Bad Request" });
    expect(
      (await send(port, `GET /v1/datasets/61 HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`)).head,
    ).toMatch(/^HTTP\/1\.1 431 /);
    expect((await send(port, "GET /v1/datasets/61 HTTP/1.1\r\nHost: a b<\r\nConnection: close\r\n\r\n")).body).toMatch(
      /^\{/,
    );
  });
});
