import type { EventDefinitions } from "../../telemetry/events.ts";

/** The events of the feature. */
export const retirementEvents: EventDefinitions = {
  brownout: { level: "info", msg: "A brown-out has begun to answer.", notes: "It is planned: nothing to do." },
  clients_not_kept: {
    level: "warn",
    msg: "The callers of the legacy interface could not be stored.",
    notes: "They are stored later. Look at `DATA_DIR` or Redis.",
  },
};
