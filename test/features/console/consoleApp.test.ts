import { describe, expect, test } from "vitest";
import { clock, kept } from "../../gateway/cache/support.ts";
import type { GuardSettings } from "../../../src/gateway/operators/guard.ts";
import { operated } from "./operated.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { consoleFor } from "./consoleFor.ts";
import type { ConsolePart } from "../../../libraries/ui/consolePart.ts";
import { exchange, expectDetail, openConnection } from "../../gateway/answer/support.ts";
import { request } from "../../gateway/proxy/support.ts";
import { pathTo } from "../../libraries/stores/redis/pathTo.ts";
import { describeWithRedis, startRedis } from "../../libraries/stores/redis/redisServer.ts";
import { settled, until } from "../../support/waiting.ts";
import type { DependencyState } from "../../../src/operation/telemetry/dependencies.ts";
import { endpoints } from "../../../transforms/index.ts";

const bare = await gatewayFor("http://127.0.0.1:1");
/** The console of a gateway whose only feature has this part. */
const consoleOf = (console: ConsolePart = {}) => consoleFor({ ...bare, consoleParts: [console], off: [] });

test("malformed requests are refused in our format", async () => {
  const { adminPort } = await operated({ token: "0123456789abcdef" });
  const rest = "Connection: close\r\n\r\n";
  for (const head of [
    "GET * HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    "GET /healthz HTTP/1.1\r\n",
    "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n",
    "GET http://a@127.0.0.1/healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    "NONSENSE\r\n",
  ])
    expectDetail(await exchange(adminPort, head + rest), 400);
});

test("a client that breaks off its body is no fault of the gateway", async () => {
  const { adminPort, observer, see } = await operated();
  const { socket, text, closed } = openConnection(adminPort);
  const head = request("POST /purge", "Content-Type: application/json", "Content-Length: 100", "Expect: 100-continue");
  socket.write(head.replace("front.example", "127.0.0.1"));
  await until(() => text().includes(" 100 Continue"));
  socket.write('{"all"');
  await settled();
  socket.resetAndDestroy();
  await closed;
  expect((await see("/healthz")).status).toBe(200);
  await settled();
  expect(observer.counts()).toEqual({});
});

test("/readyz?verbose has the state of each dependency, its time, and no address", async () => {
  const { ask, see, legacy } = await operated();
  const view = async () => {
    const answer = await see("/readyz?verbose");
    const { dependencies } = (await answer.json()) as { dependencies: DependencyState[] };
    return { code: answer.status, dependencies, legacy: dependencies.find(({ name }) => name === "legacy") };
  };
  await ask(kept.getDataset);
  const before = await view();
  const names = ["legacy", "reader_threads", "upstream_urls"];
  expect(before.dependencies.map(({ name, state }) => [name, state])).toEqual(names.map((name) => [name, "ok"]));
  legacy.trouble = "down";
  for (let i = 0; i < 3; i++) await ask(kept.getSetup, { "Cache-Control": "no-cache" });
  await until(async () => (await view()).legacy?.state === "failed");
  const after = await view();
  // A legacy that is down leaves the gateway ready: the cache still answers.
  expect([after.code, after.legacy?.why]).toEqual([200, expect.any(String)]);
  expect(Date.parse(after.legacy?.since ?? "")).toBeGreaterThanOrEqual(Date.parse(before.legacy?.since ?? ""));
  expect(JSON.stringify(after)).not.toMatch(/127\.0\.0\.1|http|\//);
});

test("an error in a feature's part of the page costs one answer, and is counted", async () => {
  const gateway = await gatewayFor("http://127.0.0.1:9", {});
  const fault = (): never => {
    throw new Error("planted");
  };
  const app = consoleFor({ ...gateway, consoleParts: [{ routes: (routes) => void routes.get("/fault", fault) }] });
  const { status, headers } = await app.request("/fault", { headers: { Host: "127.0.0.1" } });
  expect([status, headers.get("x-content-type-options")]).toEqual([500, "nosniff"]);
  expect(gateway.observer.counts()).toEqual({ internal_error: 1 });
  expect((await app.request("/healthz")).status).toBe(200);
});

describe("POST /purge", () => {
  const all = Object.values(kept);
  const how = async ({ ask }: Awaited<ReturnType<typeof operated>>, path: string) =>
    (await ask(path, { "Cache-Control": "only-if-cached" })).how.split(";")[0];

  test.each<[string, object, string[]]>([
    ["everything", { all: true }, Object.keys(kept)],
    ["a group", { group: "dataset/61" }, ["getDataset"]],
    ["a kind", { group: "datasets" }, ["listDatasets"]],
    ["an endpoint", { endpoint: "getSetup" }, ["getSetup"]],
    ["what is not there", { group: "dataset/9" }, []],
  ])("%s: a soft purge makes it stale, a hard one removes it", async (_, what, names) => {
    const gateway = await operated();
    for (const path of all) await gateway.ask(path);
    const soft = await gateway.purge(what);
    expect([soft.status, await soft.json()]).toEqual([
      200,
      { purged: expect.objectContaining({ soft: true }) as unknown },
    ]);
    for (const [name, path] of Object.entries(kept)) {
      const answer = await gateway.ask(path, { "Cache-Control": "only-if-cached" });
      expect([name, answer.status, answer.how.includes("stale-while-revalidate")]).toEqual([
        name,
        200,
        names.includes(name),
      ]);
    }
    await settled();
    expect((await gateway.purge({ ...what, hard: true })).status).toBe(200);
    for (const [name, path] of Object.entries(kept))
      expect([name, await how(gateway, path)]).toEqual([name, names.includes(name) ? "detail=only-if-cached" : "hit"]);
  });

  test("a body that names no purge is refused with what is allowed", async () => {
    const { purge } = await operated();
    const wrong = ["", "{", [], {}, { all: false }, { all: true, group: "x" }, { group: "" }];
    for (const json of [...wrong, { endpoint: "getNothing" }, { group: "x", soft: true }]) {
      const answer = await purge(json);
      const detail = expect.stringContaining('{"all": true}') as string;
      expect([json, answer.status, await answer.json()]).toEqual([json, 422, { detail }]);
    }
    expect((await purge("x".repeat(70_000))).status).toBe(413);
  });
});

describeWithRedis("POST /purge with a Redis", () => {
  test("a purge says whether all gateways have acknowledged it", async () => {
    const redis = await startRedis();
    const path = await pathTo(redis.url);
    const { purge, core: gateway } = await operated({}, { REDIS_URL: path.url });
    await until(() => gateway.cache.sharing() === "in step");
    // A busy machine may answer later than the gateway waits.
    await until(async () => (await purge({ all: true })).status === 200);
    path.cut();
    const answer = await purge({ all: true });
    expect([answer.status, await answer.json()]).toEqual([
      202,
      { purged: { all: true, soft: true }, detail: expect.any(String) as string },
    ]);
  });
});

describe("the callers who are let in", () => {
  const body = '{"all": true}';
  const post = (...headers: string[]) =>
    request("POST /purge", ...headers, `Content-Length: ${body.length}`).replace("Host: front.example\r\n", "") + body;
  const host = (port: number) => `Host: 127.0.0.1:${port}`;
  const json = "Content-Type: application/json";

  test("a change is made for our own pages and commands, not for foreign pages and forms", async () => {
    const { adminPort: port } = await operated();
    for (const [caller, status, ...headers] of [
      ["a command", 200, host(port), json],
      ["by another address", 200, "Host: [::1]:18000", json],
      ["by localhost", 200, "Host: localhost:18000", json],
      ["our page", 200, host(port), json, `Origin: http://127.0.0.1:${port}`, "Sec-Fetch-Site: same-origin"],
      ["a page of another origin", 403, host(port), json, "Origin: https://evil.example"],
      ["a page without an origin", 403, host(port), json, "Origin: null"],
      ["a page of the same site", 403, host(port), json, "Sec-Fetch-Site: same-site"],
      ["a foreign name for us", 403, "Host: evil.example:18000", json, "Origin: http://evil.example:18000"],
      ["no name", 403, "Host:", json],
      ["a form", 415, host(port), "Content-Type: application/x-www-form-urlencoded"],
      ["a form of text", 415, host(port), "Content-Type: text/plain"],
      ["no type", 415, host(port)],
      ["an odd type", 415, host(port), "Content-Type: application/jsonp"],
    ] as const) {
      const answer = await exchange(port, post(...headers));
      expect([caller, answer.status, answer.headers.get("content-type")]).toEqual([caller, status, "application/json"]);
      expect(answer.headers.get("access-control-allow-origin")).toBeUndefined();
    }
    // The host of an absolute target counts.
    const absolute = "GET http://evil.example/cache HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    expectDetail(await exchange(port, absolute), 403);
  });

  const admin = "admin-token-000001";
  const metrics = "metrics-token-0001";

  test.each<[string, Partial<GuardSettings>, [path: string, host: string, token: string, status: number][]]>([
    [
      "no token",
      { names: ["Gateway.Internal"] },
      [
        ["/healthz", "evil.example", "", 200],
        ["/readyz?verbose", "evil.example", "", 200],
        ["/metrics", "evil.example", "", 200],
        // A page may read through DNS rebinding.
        ["/", "evil.example:18000", "", 403],
        ["/nothing", "evil.example:18000", "", 403],
        ["/nothing", "127.0.0.1", "", 404],
        ["/", "127.0.0.1", "", 200],
        ["/cache", "GATEWAY.internal:18000", "", 200],
        ["/cache", "other.internal", "", 403],
        ["/cache", "gateway.internal.evil.example", "", 403],
      ],
    ],
    [
      "ADMIN_TOKEN",
      { token: admin },
      [
        ["/healthz", "127.0.0.1", "", 200],
        ["/readyz?verbose", "evil.example", "", 200],
        ["/healthz/x", "127.0.0.1", "", 401],
        ["/", "evil.example", "", 403],
        ["/", "127.0.0.1", "", 401],
        ["/cache", "127.0.0.1", `${admin}x`, 401],
        ["/", "gateway.internal", admin, 200],
        ["/metrics", "gateway.internal", admin, 200],
        ["/metrics", "evil.example", "", 401],
        ["/metrics", "evil.example", metrics, 401],
      ],
    ],
    [
      "METRICS_TOKEN",
      { metricsToken: metrics },
      [
        ["/metrics", "evil.example", metrics, 200],
        ["/metrics", "evil.example", "", 401],
        ["/metrics", "evil.example", `${metrics}x`, 401],
      ],
    ],
    [
      "both tokens",
      { token: admin, metricsToken: metrics },
      [
        ["/metrics", "evil.example", metrics, 200],
        ["/metrics", "evil.example", admin, 200],
        // The token of the metrics opens nothing else.
        ["/cache", "evil.example", metrics, 403],
        ["/cache", "127.0.0.1", metrics, 401],
      ],
    ],
  ])("reads, with %s set, by host and token", async (_, guard, reads) => {
    const { adminPort } = await operated(guard);
    for (const [path, named, token, expected] of reads) {
      const asked = request(`GET ${path}`, ...(token === "" ? [] : [`Authorization: Bearer ${token}`]));
      const { status, headers } = await exchange(adminPort, asked.replace("front.example", named));
      const about = [path, named, token, status, headers.get("x-content-type-options"), headers.get("cache-control")];
      expect(about).toEqual([path, named, token, expected, "nosniff", "no-store"]);
    }
  });

  test("a purge needs the token where one is set", async () => {
    const { purge } = await operated({ token: admin });
    const statusFor = async (Authorization: string) => (await purge({ all: true }, { Authorization })).status;
    expect([await statusFor(""), await statusFor(admin), await statusFor(`Bearer ${admin}`)]).toEqual([401, 401, 200]);
  });
});

test("GET /cache has lifetimes by the setting's names, bounds, bytes and entries", async () => {
  const { ask, see } = await operated();
  await ask(kept.getDataset);
  const view = (await (await see("/cache")).json()) as { bytes: number; lifetimes: Record<string, unknown> };
  expect(view).toMatchObject({ bound: { bytes: 1000, entryBytes: 8 * 1024 ** 2 }, entries: 1, evicted: 0 });
  expect(view.bytes).toBeGreaterThan(0);
  const cached = Object.entries(endpoints).flatMap(([name, one]) => ("cache" in one ? [name] : []));
  expect(Object.keys(view.lifetimes)).toEqual(cached);
  const ofAnswers = { fresh: "10m", staleWhileRevalidate: "1h", staleIfError: "7d" };
  expect(view.lifetimes["getDataset"]).toEqual({ ...ofAnswers, notFoundTtl: "60s", preconditionTtl: "15s" });
});

test("GET /metrics: requests, cache, calls to legacy, but no path and no key", async () => {
  const { pass } = clock();
  const { ask, as, see, legacy, post } = await operated();
  const key = "a".repeat(32);
  await ask(kept.getDataset);
  for (let i = 0; i < 3; i++) await ask(kept.getDataset);
  // fetch says no-cache by itself where there is a condition.
  await ask(kept.getDataset, { "If-None-Match": "*" });
  await ask(kept.getDataset, { ...as(key), "Cache-Control": "no-cache" });
  await ask("/v1/datasets/abc");
  await Promise.all([ask("/v1/datasets/7"), ask("/v1/datasets/7")]);
  pass(3_600_000);
  await ask(kept.getDataset);
  await settled();
  pass(48 * 3_600_000);
  legacy.trouble = "down";
  await ask(kept.getDataset);
  legacy.trouble = undefined;
  await post("/v1/datasets/tag", { data_id: 61, tag: "a" }, as(key));
  await ask("/api/v1/json/data/61");
  const text = await (await see("/metrics")).text();
  const lines = new Set(text.split("\n"));
  for (const line of [
    'catalog_gateway_requests_total{endpoint="getDataset",status="2xx"} 9',
    'catalog_gateway_requests_total{endpoint="getDataset",status="3xx"} 1',
    'catalog_gateway_requests_total{endpoint="getDataset",status="4xx"} 1',
    'catalog_gateway_cache_answers_total{result="hit"} 3',
    'catalog_gateway_cache_answers_total{result="miss"} 2',
    'catalog_gateway_cache_answers_total{result="revalidated"} 2',
    'catalog_gateway_cache_answers_total{result="collapsed"} 1',
    'catalog_gateway_cache_answers_total{result="stale"} 1',
    'catalog_gateway_cache_answers_total{result="stale_if_error"} 1',
    'catalog_gateway_cache_answers_total{result="uncached"} 2',
    // Three hits, the stale one, and the 422.
    'catalog_gateway_request_duration_seconds_bucket{endpoint="",backend="gateway",le="+Inf"} 5',
    'catalog_gateway_request_duration_seconds_count{endpoint="getDataset",backend="legacy"} 6',
    'catalog_gateway_request_duration_seconds_count{endpoint="tagDataset",backend="legacy"} 1',
    'catalog_gateway_cache_events_total{event="refreshed"} 1',
    'catalog_gateway_cache_events_total{event="coalesced"} 1',
    'catalog_gateway_upstream_requests_total{backend="legacy",result="failed"} 1',
    'catalog_gateway_upstream_requests_total{backend="legacy",result="circuit_open"} 0',
    'catalog_gateway_breaker_state{backend="legacy",state="closed"} 1',
    'catalog_gateway_dependency_up{dependency="legacy"} 1',
    'catalog_gateway_pass_through_requests_total{status="200"} 1',
    "catalog_gateway_pass_through_duration_seconds_count 1",
    'catalog_gateway_pass_through_failures_total{reason="slow_client"} 0',
    'catalog_gateway_events_total{event="legacy_failed",endpoint=""} 1',
  ])
    expect([line, lines.has(line)]).toEqual([line, true]);
  expect(text).toMatch(/^catalog_gateway_cache_bytes [1-9]\d*$/m);
  expect(text).toMatch(/^catalog_gateway_cache_entries \d$/m);
  expect(text).toMatch(/^catalog_gateway_cache_evictions_total 0$/m);
  expect(text).toMatch(/^catalog_gateway_upstream_duration_seconds_count\{backend="legacy"\} [1-9]/m);
  expect(text).not.toMatch(/^(# HELP )?gateway_/m);
  expect(text).toMatch(/^catalog_gateway_pass_through_bytes_total\{direction="response"\} [1-9]/m);
  expect(text).toMatch(/^catalog_gateway_sent_bytes_total [1-9]/m);
  expect(text).toMatch(
    /^catalog_gateway_build_info\{version="\d+\.\d+\.\d+",build="[\w-]{16}",node="v\d+\.\d+\.\d+"\} 1$/m,
  );
  expect(text).not.toMatch(/aaaaaaaa|\/v1|datasets\/61/);
});

test("GET /metrics is OpenMetrics, with its names of counters, if a client prefers it", async () => {
  const { see } = await operated();
  const open = "application/openmetrics-text";
  for (const [accept, type] of [
    ["*/*", "text/plain"],
    [open, open],
    ["text/html", "text/plain"],
    [`${open};version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`, open],
    [`text/plain;version=0.0.4,${open};q=0.5`, "text/plain"],
  ] as const) {
    const answer = await see("/metrics", { Accept: accept });
    expect([accept, answer.headers.get("content-type")?.split(";")[0]]).toEqual([accept, type]);
    const text = await answer.text();
    const family = type === open ? "catalog_gateway_requests" : "catalog_gateway_requests_total";
    for (const part of [
      `# TYPE ${family} counter\n`,
      '\ncatalog_gateway_requests_total{endpoint="getDataset",status="2xx"} 0\n',
    ])
      expect(text).toContain(part);
    expect([text.endsWith("# EOF\n"), text.includes("_total_total"), text.includes("\n\n")]).toEqual([
      type === open,
      false,
      false,
    ]);
  }
});

test("without features the page shows traffic and the cache alone, on no other routes", async () => {
  const see = (path: string) => consoleOf().request(path, { headers: { Host: "127.0.0.1" } });
  const page = await (await see("/")).text();
  expect(page.match(/<section id="[^"]+"/g)).toEqual([`<section id="traffic"`, `<section id="cache"`]);
  expect(page).toContain(`<a class="skip" href="#traffic">`);
  expect(page).not.toContain("<dialog");
  for (const path of ["/stages", "/clients", "/differences"]) expect((await see(path)).status).toBe(404);
});

test("parts of the page are loaded once, with its first request, or after a failure", async () => {
  let loaded = 0;
  const page = () => {
    loaded++;
    return loaded === 1 ? Promise.reject(new Error("not found")) : Promise.resolve({ show: () => ({ sections: [] }) });
  };
  const app = consoleOf({ page });
  const see = async (path: string) => (await app.request(path, { headers: { Host: "127.0.0.1" } })).status;
  expect([await see("/cache"), loaded]).toEqual([200, 0]);
  expect([await see("/"), await see("/"), await see("/"), loaded]).toEqual([500, 200, 200, 2]);
});
