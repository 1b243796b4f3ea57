import { expect, test } from "vitest";
import { addLatency, latencyQuantile, noLatencies } from "../../src/compare/latency.ts";

test("quantiles are right to within 6 %, also beyond an hour; of nothing there is none", () => {
  const latencies = noLatencies();
  expect(latencyQuantile(latencies, 0.5)).toBeUndefined();
  for (let i = 1; i <= 100; i++) addLatency(latencies, i);
  addLatency(latencies, 1e9);
  expect((latencyQuantile(latencies, 0.5) ?? 0) / 51).toBeCloseTo(1, 1);
  expect((latencyQuantile(latencies, 0.95) ?? 0) / 96).toBeCloseTo(1, 1);
  expect(latencies.total).toBe(5050 + 1e9);
});
