import type { EventDefinitions } from "../../src/operation/index.ts";

export const sharedCacheEvents: EventDefinitions = {
  shared_tier_up: { level: "info", msg: "Redis is in step; what it stores is used." },
  shared_tier_lost: {
    level: "error",
    msg: "Redis is lost; legacy is asked until it is back.",
    notes:
      "Redis did not answer in time, refused a write (`why` is its message), or an invalidation was missed. `shared_tier_up` ends it, 4.5 seconds after Redis is back.",
  },
  shared_tier_error: {
    level: "warn",
    msg: "A call to Redis failed.",
    notes: "`why` is Redis's message. Logged once until something changes.",
  },
};
