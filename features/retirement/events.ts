import type { EventDefinitions } from "../../src/operation/index.ts";

export const retirementEvents: EventDefinitions = {
  flood: {
    level: "warn",
    msg: "One caller sends most requests.",
    notes:
      "More than half of those of a minute, 600 at least, and more than a tenth of what legacy is asked. `caller` is its hash in `/clients`, or its address and user agent. Set `RATE_LIMIT` to `limit`: a reload puts it in force.",
  },
  brownout: { level: "info", msg: "A brown-out has begun to answer.", notes: "It is planned: nothing to do." },
};
