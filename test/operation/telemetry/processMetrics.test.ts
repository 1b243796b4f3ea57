import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect, onTestFinished, test } from "vitest";
import { openProcessMetrics } from "../../../src/operation/telemetry/processMetrics.ts";
import { startProgram } from "../../support/program.ts";
import { until } from "../../support/waiting.ts";

test("a scrape has the CPU time, the memory, the heap and the delay of the process", async () => {
  const program = await startProgram({});
  onTestFinished(async () => void (await program.stop()));
  const scrape = async () => (await fetch(`http://127.0.0.1:${program.adminPort}/metrics`)).text();
  let page = "";
  // They come when the start has ended.
  await until(async () => (page = await scrape()).includes("nodejs_"));
  const samples = [...page.matchAll(/^((?:process|nodejs)_\w+) (.+)$/gm)].map(([, name, value]) => [
    name,
    Number(value),
  ]);
  const values = Object.fromEntries(samples) as Record<string, number>;
  expect(Object.keys(values)).toEqual([
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "nodejs_heap_size_used_bytes",
    "nodejs_eventloop_lag_p99_seconds",
  ]);
  const { process_cpu_seconds_total: cpu, process_resident_memory_bytes: resident } = values;
  const { nodejs_heap_size_used_bytes: heap, nodejs_eventloop_lag_p99_seconds: delay } = values;
  expect(cpu).toBeGreaterThan(0.01);
  // The kernel shows both parts of it in hundredths.
  expect(cpu).toBeLessThan(program.processorTime() + 0.02);
  expect(heap).toBeGreaterThan(2 ** 20);
  expect(resident).toBeGreaterThan(heap as number);
  expect(resident).toBeLessThan(2 ** 30);
  expect(delay).toBeGreaterThan(0);
  expect(delay).toBeLessThan(60);
});

test("the delay of the event loop is measured since the last scrape", async () => {
  const read = openProcessMetrics();
  const delay = () => read().find(({ name }) => name === "nodejs_eventloop_lag_p99_seconds")?.values[0]?.value;
  // Its timer begins after the other timer and is as long.
  const beside = monitorEventLoopDelay();
  beside.enable();
  onTestFinished(() => void beside.disable());
  await until(() => beside.count > 0);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  await until(() => beside.max > 150e6);
  expect(delay()).toBeGreaterThan(0.15);
  // No turn of the event loop lies between the two.
  expect(delay()).toBeLessThan(0.001);
});
