import { expect, test } from "vitest";
import type { Aggregation, FamilyValues, Sample } from "../../src/telemetry/series.ts";
import { aggregateMetrics, openEndedMetrics } from "../../src/workers/metrics.ts";

const gauge = (aggregator: string, ...values: Sample[]): FamilyValues => ({
  name: `gauge_${aggregator}`,
  help: "",
  type: "gauge",
  aggregator,
  values,
});
const counter = (values: Record<string, number>): FamilyValues => ({
  name: "requests_total",
  help: "",
  type: "counter",
  values: Object.entries(values).map(([endpoint, value]) => ({ labels: { endpoint }, value })),
});
const valuesOf = (families: readonly FamilyValues[]) => families.map(({ values }) => values.map(({ value }) => value));

test.each<[Aggregation | "omit", number]>([
  ["sum", 6],
  ["min", 1],
  ["max", 3],
  ["average", 2],
  ["first", 2],
  // What prom-client leaves out is that of the primary process, which comes first.
  ["omit", 2],
])("gauges become one by %s", (aggregator, expected) => {
  const processes = [2, 1, 3].map((value) => [gauge(aggregator, { labels: {}, value })]);
  expect(valuesOf(aggregateMetrics(processes))).toEqual([[expected]]);
});

test("values with the same labels are added up, others stand for themselves", () => {
  const all = aggregateMetrics([[counter({ a: 1, b: 2 })], [counter({ b: 3, c: 4 })]]);
  expect(all).toEqual([counter({ a: 1, b: 5, c: 4 })]);
});

test("of the states of a circuit breaker the worst of all processes counts", () => {
  const process = (backend: string, inForce: string) =>
    ["closed", "half_open", "open"].map((state) => ({ labels: { backend, state }, value: state === inForce ? 1 : 0 }));
  const legacy = ["closed", "open", "half_open"].map((state) => [gauge("worst", ...process("legacy", state))]);
  const modern = ["half_open", "closed"].map((state) => [gauge("worst", ...process("modern", state))]);
  expect(aggregateMetrics([...legacy, ...modern])).toEqual([
    gauge("worst", ...process("legacy", "open"), ...process("modern", "half_open")),
  ]);
});

test("parts of a histogram are not mixed", () => {
  const histogram = (bucket: number, sum: number): FamilyValues => ({
    name: "seconds",
    help: "",
    type: "histogram",
    values: [
      { metricName: "seconds_bucket", labels: { le: 1 }, value: bucket },
      { metricName: "seconds_sum", labels: {}, value: sum },
      { metricName: "seconds_count", labels: {}, value: bucket },
    ],
  });
  expect(aggregateMetrics([[histogram(1, 0.5)], [histogram(2, 0.25)]])).toEqual([histogram(3, 0.75)]);
});

test("counters of ended workers are kept, gauges are not", () => {
  const ended = openEndedMetrics();
  ended.add([counter({ a: 1 }), gauge("sum", { labels: {}, value: 5 })]);
  ended.add([counter({ a: 2, b: 1 })]);
  expect(ended.metrics()).toEqual([counter({ a: 3, b: 1 })]);
});
