import type { EventDefinitions } from "../../src/operation/index.ts";

export const legacyCacheEvents: EventDefinitions = {
  legacy_cache_unreadable: {
    level: "warn",
    msg: "An answer of legacy's own interface was passed on, but not stored: it cannot be read.",
    isOfRequest: true,
    notes:
      "With `coding`, something before legacy codes answers, or names a charset as their coding, though the gateway asks for none: mend that. Such reads pass.",
  },
};
