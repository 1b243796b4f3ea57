import type { EventDefinitions } from "../../src/operation/index.ts";

export const webhookEvents: EventDefinitions = {
  webhook_failed: {
    level: "warn",
    msg: "A message was not taken by WEBHOOK_URL; it is sent again.",
    notes: "`why` says how. Look at the receiver if it repeats.",
  },
  webhook_dropped: {
    level: "error",
    msg: "A message for WEBHOOK_URL was dropped.",
    notes: "It was not taken in eight attempts, or 100 wait. Read what happened in the audit log.",
  },
  webhook_lost: {
    level: "error",
    msg: "Messages for WEBHOOK_URL are lost with this process.",
    notes: "They waited when it stopped. Read what happened in the audit log.",
  },
};
