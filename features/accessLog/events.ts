import type { EventDefinitions } from "../../src/operation/index.ts";

export const accessLogEvents: EventDefinitions = {
  access_log_lines_dropped: {
    level: "warn",
    msg: "Lines of the access log are lost: its reader was too slow.",
    notes: "Look at what reads the standard output, or log less (`ACCESS_LOG`).",
  },
};
