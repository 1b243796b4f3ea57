import type { IncomingMessage } from "node:http";
import { afterEach, expect, test, vi } from "vitest";
import { HttpExchange } from "../../../src/operation/telemetry/exchange.ts";
import { listeningGateway, recordingUpstream } from "../../gateway/http/support.ts";
import { get, httpUpstream, send } from "../../gateway/proxy/support.ts";

const ours = "/v1/evaluationmeasures/list";
const theirs = "/api/v1/json/anything";
const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
const KEY = "0123456789abcdef0123456789abcdef";

afterEach(() => void vi.unstubAllEnvs());

type Span = {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  status: { code?: number };
  attributes: { key: string; value: Record<string, unknown> }[];
};

/** A collector that takes OTLP as JSON, or that never answers. */
const collector = async ({ hangs = false } = {}) => {
  const requests: { headers: IncomingMessage["headers"]; url: string | undefined; spans: Span[]; text: string }[] = [];
  const url = await httpUpstream((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const { resourceSpans } = JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
      const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
      requests.push({ headers: request.headers, url: request.url, spans, text });
      if (!hangs) response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    });
  });
  return { url, requests, spans: () => requests.flatMap(({ spans }) => spans) };
};

/** A gateway that exports to a collector. `lastExport`: milliseconds that a stop waits for it. */
const traced = async (url: string, environment: Record<string, string> = {}, lastExport = 60_000) => {
  const legacy = await recordingUpstream();
  const gateway = await listeningGateway(
    legacy.url,
    { OTEL_EXPORTER_OTLP_ENDPOINT: url, ...environment },
    { lastExport },
  );
  /** Exports the recorded spans. */
  const flush = async () => {
    await gateway.server.stop(0);
    await gateway.features.tracing?.close();
  };
  return { ...gateway, seen: legacy.seen, flush, tracing: () => gateway.features.tracing };
};
const attribute = ({ attributes }: Span, name: string) =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0];

test("a miss has spans for cache, legacy and transform, in the trace of its client", async () => {
  const { url, requests, spans } = await collector();
  vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret%20one,tenant=a");
  vi.stubEnv("OTEL_SERVICE_NAME", "mine");
  const { port, seen, flush } = await traced(url);
  const { head } = await send(port, get(`${ours}?api_key=${KEY}`, `traceparent: ${traceparent}`, "tracestate: a=1"));
  await flush();
  const all = spans();
  const named = (name: string) => all.find((span) => span.name === name) as Span;
  const request = named("GET listEvaluationMeasures");
  const legacy = all.findLast(({ name }) => name === "legacy") as Span;
  expect(all.map((span) => span.traceId)).toEqual(all.map(() => traceId));
  expect(request).toMatchObject({ kind: 2, parentSpanId: "b7ad6b7169203331" });
  expect(named("cache").parentSpanId).toBe(request.spanId);
  expect([request.spanId, named("cache").spanId]).toContain(legacy.parentSpanId);
  expect(named("transform").parentSpanId).toBe(named("cache").spanId);
  expect(attribute(request, "url.path")).toBe(ours);
  expect(String(attribute(request, "http.response.status_code"))).toBe("200");
  expect(head).toContain(`X-Request-Id: ${String(attribute(request, "catalog_gateway.request_id"))}`);
  expect(seen.at(-1)?.headers).toMatchObject({ traceparent: `00-${traceId}-${legacy.spanId}-01`, tracestate: "a=1" });
  expect(requests[0]).toMatchObject({ url: "/v1/traces", headers: { "api-key": "secret one", tenant: "a" } });
  expect(requests[0]?.text).toContain('"mine"');
  expect(requests.map(({ text }) => text).join("")).not.toContain(KEY);
});

test("a hit, a passed-through request and a refused one are traces of their own", async () => {
  const { url, spans } = await collector();
  const { port, seen, flush } = await traced(url);
  for (let i = 0; i < 2; i++) await send(port, get(ours));
  await send(port, get(theirs, "traceparent: not one"));
  await send(port, "\x16\x03\x01\r\n\r\n");
  await flush();
  const all = spans();
  const hit = all.find((span) => attribute(span, "catalog_gateway.cache") === "hit") as Span;
  expect(hit.parentSpanId ?? "").toBe("");
  const proxied = all.find((span) => attribute(span, "url.path") === theirs) as Span;
  const legacy = all.find(({ name, parentSpanId }) => name === "legacy" && parentSpanId === proxied.spanId);
  expect(seen.at(-1)?.headers["traceparent"]).toBe(`00-${proxied.traceId}-${legacy?.spanId}-01`);
  expect(all.filter(({ name }) => name === "request")).toHaveLength(1);
  expect(new Set(all.filter(({ kind }) => kind === 2).map((span) => span.traceId)).size).toBe(4);
});

test("the call to modern is a span, whose traceparent modern gets", async () => {
  const { url, spans } = await collector();
  const modern = await recordingUpstream();
  const stages = '{"listEvaluationMeasures":{"stage":"modern"}}';
  const { port, flush } = await traced(url, { MODERN_URL: modern.url, STAGES: stages });
  await send(port, get(ours));
  await flush();
  const span = spans().find(({ name }) => name === "modern");
  expect(modern.seen[0]?.headers["traceparent"]).toBe(`00-${span?.traceId}-${span?.spanId}-01`);
  // The stand-in's answer does not fit.
  expect(span?.status.code).toBe(2);
});

test("an unsampled request is not exported, and legacy is told so", async () => {
  const { url, spans } = await collector();
  vi.stubEnv("OTEL_TRACES_SAMPLER", "traceidratio");
  vi.stubEnv("OTEL_TRACES_SAMPLER_ARG", "0");
  const { port, seen, flush } = await traced(url);
  await send(port, get(ours, `traceparent: ${traceparent}`));
  await flush();
  expect(spans()).toEqual([]);
  expect(seen[0]?.headers["traceparent"]).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
});

test("a collector that hangs or is away holds up no request, and a stop only briefly", async () => {
  // Longer than a test may take: a stop that waited for the export would fail it.
  for (const name of ["OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_BSP_EXPORT_TIMEOUT"]) vi.stubEnv(name, "3600000");
  const hanging = await collector({ hangs: true });
  for (const url of [hanging.url, "http://127.0.0.1:9"]) {
    const { port, flush } = await traced(url, {}, 500);
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(port, get(ours))));
    expect(answers.every(({ head }) => head.startsWith("HTTP/1.1 200 "))).toBe(true);
    await flush();
  }
});

test("spans that wait are bounded, beside one batch that is exported; more are dropped", async () => {
  const { url, spans } = await collector();
  const { flush, tracing } = await traced(url);
  for (let i = 0; i < 10_000; i++) tracing()?.onExchange?.(new HttpExchange());
  await flush();
  expect(spans().length).toBeGreaterThan(0);
  expect(spans().length).toBeLessThanOrEqual(2048 + 512);
});
