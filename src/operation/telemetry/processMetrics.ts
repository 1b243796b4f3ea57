import type { FamilyValues } from "./series.ts";

/** The metrics of this process and of Node, as prom-client collects them: what gives their values now. */
export const openProcessMetrics = async (): Promise<() => Promise<FamilyValues[]>> => {
  const { collectDefaultMetrics, Registry } = await import("prom-client");
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Three for each space of the heap: no operator can judge them.
  for (const about of ["total", "used", "available"])
    registry.removeSingleMetric(`nodejs_heap_space_size_${about}_bytes`);
  // prom-client declares the type as a number; it is its name.
  return async () => (await registry.getMetricsAsJSON()) as unknown as FamilyValues[];
};
