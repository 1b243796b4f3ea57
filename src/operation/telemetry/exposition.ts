import { setImmediate as nextTurn } from "node:timers/promises";
import type { Metric, RegistryContentType } from "prom-client";
import { Registry } from "./promClient.ts";
import type { FamilyValues } from "./series.ts";

/** A page of metrics, and its `Content-Type`. */
type Exposition = { contentType: string; body: string };

/** Values of one metric that take about a millisecond to write. */
const MANY = 100;

/**
 * Writes metrics for Prometheus. A registry of prom-client's has one format for all requests, and loses `_total` of its counters once it
 * has written OpenMetrics: so each page is written by a registry of its own. Requests of clients come between large metrics.
 */
export const writeExposition = async (
  families: readonly FamilyValues[],
  isOpenMetrics = false,
): Promise<Exposition> => {
  const contentType = isOpenMetrics ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE;
  const registry = new Registry<RegistryContentType>();
  registry.setContentType(contentType);
  const written: string[] = [];
  for (const family of families) {
    // OpenMetrics names a counter without the suffix, which prom-client adds to each value.
    const name = isOpenMetrics && family.type === "counter" ? family.name.replace(/_total$/, "") : family.name;
    registry.registerMetric({ name, get: async () => ({ ...family, name }) } as unknown as Metric);
    written.push(await registry.getSingleMetricAsString(name));
    if (family.values.length > MANY) await nextTurn();
  }
  return { contentType, body: `${written.join("\n")}\n${isOpenMetrics ? "# EOF\n" : ""}` };
};
