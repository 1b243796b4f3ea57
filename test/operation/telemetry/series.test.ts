import { expect, test } from "vitest";
import { writeExposition } from "../../../src/operation/telemetry/exposition.ts";
import { openMeter } from "../../../src/operation/telemetry/meter.ts";
import type { FamilyValues } from "../../../src/operation/telemetry/series.ts";
import { pageOfMetrics } from "../../support/metrics.ts";

test("a histogram counts a value in its bucket and in all larger ones", async () => {
  const meter = openMeter(() => ({}));
  const took = meter.histogram("took_seconds", "Time.", ["who"]);
  for (const seconds of [0.02, 0.05, 0.050_1, 1, 70]) took("a").observe(seconds);
  const [, written = ""] = (await pageOfMetrics(meter)).split("# TYPE catalog_gateway_took_seconds histogram\n");
  expect(written.trimEnd().replaceAll("catalog_gateway_took_seconds", "").split("\n")).toEqual([
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
  ]);
});

test("texts of metrics are escaped", async () => {
  const families: FamilyValues[] = [
    { name: "a_total", help: 'A "\\"\nb', type: "counter", values: [{ labels: { x: 'a "\\"\nb', n: 1 }, value: 2 }] },
  ];
  expect((await writeExposition(families)).body.split("\n")).toEqual([
    '# HELP a_total A "\\\\"\\nb',
    "# TYPE a_total counter",
    'a_total{x="a \\"\\\\\\"\\nb",n="1"} 2',
    "",
  ]);
});

test("the name of a metric is registered once", () => {
  const meter = openMeter(() => ({}));
  meter.gauge("things", "Things.", () => 1);
  expect(() => meter.counter("things", "Things.")).toThrow("catalog_gateway_things");
});

test("events are counted by name, and by endpoint where an alert names it", async () => {
  const counts = { "unknown_field getThing a": 1, "unknown_field getThing b": 2, "schema_mismatch getThing": 4 };
  const page = await pageOfMetrics(openMeter(() => counts, [{ name: "getThing", isCached: true }]));
  expect(page).toContain('\ncatalog_gateway_events_total{event="unknown_field",endpoint=""} 3\n');
  expect(page).toContain('\ncatalog_gateway_events_total{event="schema_mismatch",endpoint="getThing"} 4\n');
});
