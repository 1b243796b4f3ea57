import { expect, test } from "vitest";
import { writeExposition } from "../../../src/operation/telemetry/exposition.ts";
import { type Meter, openMeter } from "../../../src/operation/telemetry/meter.ts";
import { Registry } from "../../../src/operation/telemetry/promClient.ts";
import { openHistogram } from "../../../src/operation/telemetry/series.ts";

const linesOf = async (registry: InstanceType<typeof Registry>) =>
  (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));

/** Checks that the page of metrics has these lines. */
const expectLines = async (meter: Meter, lines: string[]) => {
  const { body } = await writeExposition(await meter.read());
  const written = new Set(body.split("\n"));
  expect(lines.filter((line) => !written.has(line))).toEqual([]);
};

test("a histogram counts a value in its bucket and in all larger ones", async () => {
  const registry = new Registry();
  const took = openHistogram(registry, "took_seconds", "Time.", ["who"], [0.1, 1]);
  for (const seconds of [0.05, 0.1, 0.100_1, 1, 7]) took("a").observe(seconds);
  took("b");
  expect(await linesOf(registry)).toEqual([
    'took_seconds_bucket{who="a",le="0.1"} 2',
    'took_seconds_bucket{who="a",le="1"} 4',
    'took_seconds_bucket{who="a",le="+Inf"} 5',
    'took_seconds_sum{who="a"} 8.2501',
    'took_seconds_count{who="a"} 5',
    'took_seconds_bucket{who="b",le="0.1"} 0',
    'took_seconds_bucket{who="b",le="1"} 0',
    'took_seconds_bucket{who="b",le="+Inf"} 0',
    'took_seconds_sum{who="b"} 0',
    'took_seconds_count{who="b"} 0',
  ]);
});

test("every series that can be known exists from the start, with 0", async () => {
  const meter = openMeter(
    () => ({}),
    [
      { name: "getThing", isCached: true },
      { name: "tagThing", isCached: false },
    ],
  );
  meter.addBackend({ name: "legacy", circuit: () => "closed", certificateExpiry: () => undefined });
  const { body } = await writeExposition(await meter.read());
  const prefix = "catalog_gateway_request_duration_seconds_count";
  const series = body.split("\n").filter((line) => line.startsWith(prefix));
  expect(series.map((line) => line.slice(prefix.length))).toEqual([
    '{endpoint="",backend="gateway"} 0',
    '{endpoint="getThing",backend="legacy"} 0',
    '{endpoint="tagThing",backend="legacy"} 0',
  ]);
  await expectLines(meter, [
    'catalog_gateway_requests_total{endpoint="tagThing",status="502"} 0',
    'catalog_gateway_cache_answers_total{result="stale"} 0',
    'catalog_gateway_upstream_requests_total{backend="legacy",result="circuit_open"} 0',
    'catalog_gateway_upstream_duration_seconds_count{backend="legacy"} 0',
    'catalog_gateway_cache_events_total{event="refreshed"} 0',
    "catalog_gateway_sent_bytes_total 0",
  ]);
});

test("a 5xx counts as an error, however it was made", async () => {
  const meter = openMeter(() => ({}), [{ name: "getThing", isCached: true }]);
  const answer = { backend: "modern", how: { fwd: "uri-miss" as const }, ms: 1500, bytes: 10 };
  meter.countAnswer("getThing", { ...answer, status: 200 });
  meter.countAnswer("getThing", { ...answer, status: 502 });
  meter.countHit("getThing", 200, 10, 0.2);
  await expectLines(meter, [
    'catalog_gateway_cache_answers_total{result="hit"} 1',
    'catalog_gateway_cache_answers_total{result="miss"} 1',
    'catalog_gateway_cache_answers_total{result="error"} 1',
    'catalog_gateway_request_duration_seconds_sum{endpoint="getThing",backend="modern"} 3',
    'catalog_gateway_request_duration_seconds_bucket{endpoint="",backend="gateway",le="0.001"} 1',
    'catalog_gateway_requests_total{endpoint="getThing",status="2xx"} 2',
    'catalog_gateway_requests_total{endpoint="getThing",status="502"} 1',
    "catalog_gateway_sent_bytes_total 30",
  ]);
});

test("events are counted by name, and by endpoint where an alert names it", async () => {
  const counts = { "unknown_field getThing a": 1, "unknown_field getThing b": 2, "schema_mismatch getThing": 4 };
  const meter = openMeter(() => counts, [{ name: "getThing", isCached: true }]);
  await expectLines(meter, [
    'catalog_gateway_events_total{event="unknown_field",endpoint=""} 3',
    'catalog_gateway_events_total{event="schema_mismatch",endpoint="getThing"} 4',
    'catalog_gateway_events_total{event="internal_error",endpoint=""} 0',
  ]);
});
