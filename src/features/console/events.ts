import type { EventDefinitions } from "../../operation/telemetry/events.ts";

/** The events of the feature. */
export const consoleEvents: EventDefinitions = {
  purged: { level: "info", msg: "An operator purged entries of the cache." },
};
