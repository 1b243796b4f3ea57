import type { EventDefinitions } from "../../src/operation/index.ts";

export const retirementEvents: EventDefinitions = {
  brownout: { level: "info", msg: "A brown-out has begun to answer.", notes: "It is planned: nothing to do." },
};
