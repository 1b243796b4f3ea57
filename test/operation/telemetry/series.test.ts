import { expect, test } from "vitest";
import { writeExposition } from "../../../src/operation/telemetry/exposition.ts";
import { type Meter, openMeter } from "../../../src/operation/telemetry/meter.ts";
import type { FamilyValues } from "../../../src/operation/telemetry/series.ts";

/** Checks that the page of metrics has these lines. */
const expectLines = async (meter: Meter, lines: string[]) => {
  const { body } = await writeExposition(await meter.read());
  const written = new Set(body.split("\n"));
  expect(lines.filter((line) => !written.has(line))).toEqual([]);
};

test("a histogram counts a value in its bucket and in all larger ones", async () => {
  const meter = openMeter(() => ({}));
  const took = meter.histogram("took_seconds", "Time.", ["who"]);
  for (const seconds of [0.02, 0.05, 0.050_1, 1, 70]) took("a").observe(seconds);
  took("b");
  const { body } = await writeExposition(await meter.read());
  const [, written = ""] = body.split("# TYPE catalog_gateway_took_seconds histogram\n");
  expect(written.trimEnd().replaceAll("catalog_gateway_took_seconds", "").split("\n").slice(0, 11)).toEqual([
    '_bucket{who="a",le="0.001"} 0',
    '_bucket{who="a",le="0.01"} 0',
    '_bucket{who="a",le="0.05"} 2',
    '_bucket{who="a",le="0.2"} 3',
    '_bucket{who="a",le="1"} 4',
    '_bucket{who="a",le="5"} 4',
    '_bucket{who="a",le="20"} 4',
    '_bucket{who="a",le="+Inf"} 5',
    '_sum{who="a"} 71.1201',
    '_count{who="a"} 5',
    '_bucket{who="b",le="0.001"} 0',
  ]);
});

test("texts are escaped; OpenMetrics names a counter without _total, and ends with EOF", async () => {
  const families: FamilyValues[] = [
    { name: "a_total", help: 'A "\\"\nb', type: "counter", values: [{ labels: { x: 'a "\\"\nb', n: 1 }, value: 2 }] },
    { name: "b_total", help: "B.", type: "gauge", values: [{ labels: {}, value: Number.NaN }] },
  ];
  const lines = [
    '# HELP a_total A "\\\\"\\nb',
    "# TYPE a_total counter",
    'a_total{x="a \\"\\\\\\"\\nb",n="1"} 2',
    "# HELP b_total B.",
    "# TYPE b_total gauge",
    "b_total NaN",
    "",
  ];
  expect((await writeExposition(families)).body.split("\n")).toEqual(lines);
  const open = lines.map((line) => line.replace(/^# (\w+) a_total/, "# $1 a"));
  expect((await writeExposition(families, true)).body.split("\n")).toEqual(open.toSpliced(-1, 0, "# EOF"));
});

test("the name of a metric is registered once", () => {
  const meter = openMeter(() => ({}));
  meter.gauge("things", "Things.", () => 1);
  expect(() => meter.counter("things", "Things.")).toThrow("catalog_gateway_things has already been registered");
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
