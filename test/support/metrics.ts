import { writeExposition } from "../../src/operation/telemetry/exposition.ts";
import type { Meter } from "../../src/operation/telemetry/meter.ts";

/** The page of `/metrics` as of now. */
export const pageOfMetrics = async (meter: Meter): Promise<string> => (await writeExposition(await meter.read())).body;

/**
 * The value of a metric without labels. `name`: without `catalog_gateway_`.
 *
 * @throws If there is no such metric.
 */
export const valueOf = async (meter: Meter, name: string): Promise<number> => {
  const [sample] = (await meter.read()).find((family) => family.name === `catalog_gateway_${name}`)?.values ?? [];
  if (sample === undefined) throw new Error(`There is no metric ${name}.`);
  return sample.value;
};
