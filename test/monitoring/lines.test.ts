import { expect, onTestFinished, test } from "vitest";
import { allEvents } from "../../features/index.ts";
import { openProcessMetrics } from "../../src/operation/telemetry/processMetrics.ts";
import { exampleRequests } from "../../tools/corpus/madeRequests.ts";
import { startSampleLegacy } from "../../tools/sampleLegacy/startSampleLegacy.ts";
import { endpoints } from "../../transforms/index.ts";
import { startStandIn } from "../standIn/startStandIn.ts";
import { listeningGateway } from "../gateway/http/support.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { until } from "../support/waiting.ts";
import { pageOfMetrics } from "../support/metrics.ts";

const names = Object.keys(endpoints) as (keyof typeof endpoints)[];

/** A gateway between both sides with all that has metrics; its page of metrics. */
const metered = async () => {
  const legacy = await startSampleLegacy();
  const modern = await startStandIn({ legacyUrl: legacy.url });
  onTestFinished(async () => {
    await modern.close();
    await legacy.close();
  });
  const gateway = await listeningGateway(legacy.url, {
    MODERN_URL: modern.url,
    FORCE_BACKEND: "true",
    DATA_DIR: temporaryFolder(),
    WEBHOOK_URL: "http://127.0.0.1:9/",
    WEBHOOK_SECRET: Buffer.alloc(32).toString("base64"),
    LEGACY_ADMIN_KEY: "AD000000000000000000000000000000",
    RATE_LIMIT: "100000",
    CACHE_LEGACY: "all",
    MOVE_LEGACY: "all",
    STAGES: JSON.stringify(Object.fromEntries(names.map((name) => [name, { stage: "shadow", share: 100, gate: {} }]))),
  });
  gateway.core.meter.join(openProcessMetrics());
  const page = () => pageOfMetrics(gateway.core.meter);
  return { gateway, page };
};

/** Requests that each endpoint answers and refuses, by both sides and from the cache, and proxied requests. */
const askEverything = async (url: string): Promise<void> => {
  const ask = async (path: string, init: RequestInit) => (await fetch(url + path, init)).arrayBuffer();
  const sides: Record<string, string>[] = [{}, {}, { "Gateway-Backend": "modern" }];
  for (const { method, path, body } of exampleRequests(endpoints))
    for (const side of sides) {
      const headers = { ...side, "Content-Type": "application/json" };
      await ask(`/v1${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    }
  for (const { routes } of Object.values(endpoints)) {
    const [method = "", path = ""] = (routes[0] ?? "").split(" ");
    await ask(`/v1${path}`, { method });
  }
  await ask("/api/v1/json/data/61", {});
};

const statuses = [200, 204, 304, 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 422, 429, 500, 502, 503, 504];
const ways = [{ hit: true }, { hit: true, detail: "stale-if-error" }, { fwd: "uri-miss" }, { fwd: "stale" }] as const;

/** The bound of docs/operate.md. */
const MAX_LINES = 360 + 37 * names.length;

test("a page of metrics has at most 37 lines an endpoint and 360 others", async () => {
  const { gateway, page } = await metered();
  const lines = async () => (await page()).split("\n").length - 1;
  expect(await lines()).toBeLessThan(MAX_LINES);

  await askEverything(gateway.url);
  await until(async () => /^catalog_gateway_comparisons_total\{.*\} [1-9]/m.test(await page()));
  const text = await page();
  for (const labels of [
    ...names.map((name) => `requests_total{endpoint="${name}",status="[2-5]..?"}`),
    ...names.flatMap((name) =>
      "writes" in endpoints[name] ? [] : [`request_duration_seconds_count{endpoint="${name}",backend="legacy"}`],
    ),
    ...["hit", "miss"].map((result) => `cache_answers_total{result="${result}"}`),
    'request_duration_seconds_count{endpoint="",backend="gateway"}',
    'request_duration_seconds_count{endpoint="getDataset",backend="modern"}',
  ])
    expect([labels, new RegExp(`^catalog_gateway_${labels} [1-9]`, "m").test(text)]).toEqual([labels, true]);
  expect(await lines()).toBeLessThan(MAX_LINES);

  // All that can be counted at all: every endpoint with every status, backend, way and event.
  const events = Object.keys(await allEvents());
  expect(events.length).toBeGreaterThan(0);
  for (const name of names) {
    for (const event of events) gateway.observer.event(event, { endpoint: name });
    for (const status of statuses) {
      gateway.core.meter.countHit(name, status, 1, 1);
      for (const backend of ["legacy", "modern", "gateway"])
        for (const how of ways) gateway.core.meter.countAnswer(name, { backend, status, how, ms: 1, bytes: 1 });
    }
  }
  expect(await lines()).toBeLessThan(MAX_LINES);
});
