import type { EventDefinitions } from "../../src/operation/index.ts";

export const diskCacheEvents: EventDefinitions = {
  disk_cache_up: { level: "info", msg: "The cache's disk does what it is asked again." },
  disk_cache_lost: {
    level: "error",
    msg: "The cache's disk does not do what it is asked.",
    notes:
      "It did not answer in time, failed, or is nearly full: `why` says more. Answers come from memory and legacy; what a write changes is taken out of the disk before that is read again. `disk_cache_up` ends it.",
  },
  disk_cache_emptied: {
    level: "warn",
    msg: "What was cached on the disk is not used.",
    notes:
      "`why` is the reason. A file in another version's format, or a malformed one, is renamed (`.set-aside` behind its name); the cache begins with an empty file.",
  },
};
