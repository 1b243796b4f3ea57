import type { EventDefinitions } from "../../src/operation/index.ts";

export const rateLimitEvents: EventDefinitions = {
  rate_limit_redis_lost: {
    level: "warn",
    msg: "Redis does not count requests; each gateway limits by itself.",
    notes: "`why` says more. `rate_limit_redis_up` ends it.",
  },
  rate_limit_redis_up: { level: "info", msg: "The gateways share their rate limits again." },
};
