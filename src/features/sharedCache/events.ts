import type { EventDefinitions } from "../../telemetry/events.ts";

/** The events of the feature. */
export const sharedCacheEvents: EventDefinitions = {
  shared_tier_up: { level: "info", msg: "Redis is in step; what it stores is used." },
  shared_tier_lost: { level: "error", msg: "Redis is lost; legacy is asked until it is back." },
  shared_tier_error: { level: "warn", msg: "A call to Redis failed." },
};
