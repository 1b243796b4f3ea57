import type { EventDefinitions } from "../../src/operation/index.ts";

export const consoleEvents: EventDefinitions = {
  purged: { level: "info", msg: "An operator purged entries of the cache." },
};
