import type { EventDefinitions } from "../../telemetry/events.ts";

/** The events of the feature. */
export const webhookEvents: EventDefinitions = {
  webhook_failed: { level: "warn", msg: "A message was not taken by WEBHOOK_URL; it is sent again." },
  webhook_dropped: { level: "error", msg: "A message for WEBHOOK_URL was given up." },
  webhook_lost: { level: "error", msg: "Messages for WEBHOOK_URL are lost with this process." },
  webhook_not_kept: { level: "warn", msg: "A message for WEBHOOK_URL could not be stored." },
};
