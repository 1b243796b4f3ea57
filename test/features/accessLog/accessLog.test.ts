import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { HttpExchange } from "../../../src/operation/telemetry/exchange.ts";
import { listeningGateway, recordingUpstream } from "../../gateway/http/support.ts";
import { get, request, send } from "../../gateway/proxy/support.ts";
import { until } from "../../support/waiting.ts";
import { openPipe } from "../../operation/telemetry/support.ts";
import { pageOfMetrics } from "../../support/metrics.ts";

const ours = "/v1/evaluationmeasures/list";
const theirs = "/api/v1/json/anything";

/** A gateway whose access log goes into a pipe, before a legacy that fails, drips or is slow where the path says so. */
const opened = async (environment: Record<string, string> = {}, slow?: number) => {
  const { url, seen } = await recordingUpstream(({ target }) => {
    if (target.includes("fails")) return { status: 500, body: "" };
    return target.startsWith("/api/v1/json/evaluationmeasure") ? undefined : { body: "whatever" };
  });
  const pipe = openPipe();
  const fd = pipe.writer();
  const gateway = await listeningGateway(url, { ACCESS_LOG: "all", ...environment }, { fd, slow });
  let text = "";
  /** The lines until now, once there are this many. */
  const lines = async (count: number): Promise<string[]> => {
    await until(() => (text += pipe.read()).split("\n").length > count);
    return text.split("\n").slice(0, -1);
  };
  const records = async (count: number) =>
    (await lines(count)).map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...gateway, seen, pipe, lines, records };
};

test("each request has a line: a miss, a hit, a passed-through one, an unknown one", async () => {
  const { port, seen, records } = await opened();
  const heads: string[] = [];
  for (const path of [ours, ours, theirs, "/v1/nothing"])
    heads.push((await send(port, get(path, "User-Agent: client/1.0"))).head);
  const [miss, hit, proxied, unknown] = await records(4);
  const caller = expect.stringMatching(/^[0-9a-f]{16}$/);
  const common = { level: 30, event: "request", method: "GET", caller, agent: "client/1.0", ms: expect.any(Number) };
  const answered = { endpoint: "listEvaluationMeasures", path: ours, status: 200, bytes: 9 };
  expect(miss).toMatchObject({
    ...common,
    ...answered,
    cache: "miss",
    stage: "legacy",
    backend: "legacy",
    upstreamCalls: 1,
  });
  expect(hit).toMatchObject({ ...common, ...answered, cache: "hit", stage: "legacy", backend: "legacy" });
  expect(hit).not.toHaveProperty("upstreamMs");
  expect(proxied).toMatchObject({
    ...common,
    path: theirs,
    status: 200,
    bytes: 8,
    backend: "legacy",
    upstreamCalls: 1,
  });
  expect(unknown).toMatchObject({ ...common, path: "/v1/nothing", status: 404, backend: "gateway" });
  expect(miss?.["upstreamMs"]).toBeGreaterThan(0);
  expect(miss?.["ms"]).toBeGreaterThanOrEqual(miss?.["upstreamMs"] as number);
  expect(miss?.["time"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  for (const [i, line] of [miss, hit, proxied, unknown].entries())
    expect(heads[i]).toContain(`X-Request-Id: ${String(line?.["requestId"])}`);
  expect(seen[1]?.headers["x-request-id"]).toBe(proxied?.["requestId"]);
});

test("a refused request has a line too, as far as it was read", async () => {
  const { port, records } = await opened();
  await send(port, "\x16\x03\x01\r\n\r\n");
  await send(port, "GET /a HTTP/1.1\r\nConnection: close\r\n\r\n");
  await send(port, request("CONNECT other.example:443"));
  const [unparsed, hostless, tunnel] = await records(3);
  expect(unparsed).toMatchObject({ status: 400, refused: true, backend: "gateway" });
  expect(unparsed).not.toHaveProperty("path");
  expect(hostless).toMatchObject({ status: 400, refused: true, method: "GET", path: "/a" });
  expect(tunnel).toMatchObject({ status: 400, refused: true });
});

test("errors: only what failed or was slow has a line; a refused request has none", async () => {
  const { port, records } = await opened({ ACCESS_LOG: "errors" }, Infinity);
  for (const path of [ours, ours, theirs, "/v1/nothing", "/api/v1/json/fails"]) await send(port, get(path));
  await send(port, "\x16\x03\x01\r\n\r\n");
  await send(port, get("/api/v1/json/fails/again"));
  expect(await records(2)).toMatchObject([
    { level: 50, path: "/api/v1/json/fails", status: 500 },
    { level: 50, path: "/api/v1/json/fails/again", status: 500 },
  ]);
});

test("a slow request is a warning, however its answer is", async () => {
  const { port, records } = await opened({ ACCESS_LOG: "errors" }, 0);
  await send(port, get(ours));
  expect((await records(1))[0]).toMatchObject({ level: 40, path: ours, status: 200 });
});

test("a caller is known again by its key, not by its address", async () => {
  const { port, records } = await opened();
  const [one, other] = [randomBytes(16).toString("hex"), randomBytes(16).toString("hex")];
  for (const key of [one, other, one]) await send(port, get(theirs, `Authorization: Bearer ${key}`));
  await send(port, get(`${theirs}?api_key=${one}`));
  await send(port, get(theirs));
  const callers = (await records(5)).map(({ caller }) => caller);
  expect(callers[2]).toBe(callers[0]);
  expect(callers[3]).toBe(callers[0]);
  expect(new Set(callers).size).toBe(3);
});

/** A key as it may stand anywhere: plain, percent-encoded once or twice, in capitals. */
const written = (key: string) => {
  const encoded = Array.from(key, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join("");
  return fc.constantFrom(
    key,
    encoded,
    encoded.replaceAll("%", "%25"),
    key.toUpperCase(),
    `${key.slice(0, 8)}%${key.charCodeAt(8).toString(16)}${key.slice(9)}`,
  );
};
const places = (key: string) =>
  fc.record({
    path: fc.array(fc.oneof(fc.constantFrom("json", "data", "61", "api_key", "key"), written(key)), { maxLength: 4 }),
    query: fc.array(fc.tuple(fc.constantFrom("api_key", "API_KEY", "a", "x%5Bapi_key%5D", "q"), written(key)), {
      maxLength: 3,
    }),
    headers: fc.subarray([
      `Authorization: Bearer ${key}`,
      `X-API-Key: ${key}`,
      `Cookie: session=${key}`,
      `Referer: /?k=${key}`,
    ]),
    agent: fc.constantFrom("plain/1.0", `lib/1 (${key})`, `api_key=${key}`, `a;${key.toUpperCase()}`),
  });

test("no line has a key, wherever it stands", async () => {
  const { port, lines } = await opened();
  const key = `${randomBytes(15).toString("hex")}Zq`;
  let count = 0;
  await fc.assert(
    fc.asyncProperty(places(key), async ({ path, query, headers, agent }) => {
      const target =
        ["/api/v1", ...path].join("/") + (query.length > 0 ? `?${query.map((one) => one.join("=")).join("&")}` : "");
      await send(port, get(target, `User-Agent: ${agent}`, ...headers));
      const line = (await lines(++count)).at(-1) ?? "";
      const plain = [line, decodeURIComponent(line), decodeURIComponent(decodeURIComponent(line))];
      for (const text of plain) expect(text.toLowerCase()).not.toContain(key.toLowerCase());
    }),
    { numRuns: 40 },
  );
});

test("lines have a bound, whatever the client sends", async () => {
  const { port, lines } = await opened();
  const target = `/${"a/".repeat(3500)}?${"x=%22&".repeat(500)}`;
  await send(port, get(target, `User-Agent: ${"agent\t".repeat(500)}`));
  const [line = ""] = await lines(1);
  expect(line.length).toBeLessThan(target.length);
  expect(JSON.parse(line)).toHaveProperty("status", 200);
});

test("a log reader that stalls loses lines, but costs no memory and no answer", async () => {
  const { port, pipe, core, features } = await opened();
  pipe.fill();
  const exchange = new HttpExchange();
  for (let i = 0; i < 20_000; i++) features.accessLog?.onExchange(exchange);
  expect((await send(port, get(ours))).head).toMatch(/^HTTP\/1\.1 200 /);
  const metrics = await pageOfMetrics(core.meter);
  expect(metrics).toMatch(/^catalog_gateway_access_log_lines_dropped_total [1-9]\d{3,}$/m);
});
