import { monitorEventLoopDelay } from "node:perf_hooks";
import type { FamilyValues } from "./series.ts";

const MICROSECONDS = 1e6;
const NANOSECONDS = 1e9;

/**
 * Begins to measure this process. The result reads its metrics for the dashboard, by the names that other Prometheus
 * clients use. The delays of the event loop are counted from the last reading.
 */
export const openProcessMetrics = (): (() => FamilyValues[]) => {
  const delays = monitorEventLoopDelay();
  delays.enable();
  return () => {
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const delay = delays.percentile(99);
    delays.reset();
    return [
      family("process_cpu_seconds_total", "counter", "User and system CPU time.", (user + system) / MICROSECONDS),
      family("process_resident_memory_bytes", "gauge", "Resident memory.", rss),
      family("nodejs_heap_size_used_bytes", "gauge", "Bytes of the heap of the main thread that are in use.", heapUsed),
      family(
        "nodejs_eventloop_lag_p99_seconds",
        "gauge",
        "99th percentile of the time between two calls of a 10 ms timer, since the last scrape.",
        delay / NANOSECONDS,
      ),
    ];
  };
};

const family = (name: string, type: "counter" | "gauge", help: string, value: number): FamilyValues => ({
  name,
  help,
  type,
  values: [{ labels: {}, value }],
});
