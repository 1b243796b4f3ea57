import type { EventDefinitions } from "../../telemetry/events.ts";

/** The events of the feature. */
export const retirementEvents: EventDefinitions = {
  brownout: { level: "info", msg: "A brown-out has begun to answer." },
  clients_not_kept: { level: "warn", msg: "The callers of the legacy interface could not be stored." },
};
