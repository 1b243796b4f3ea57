import type { EventDefinitions } from "../../src/operation/index.ts";

export const privateDatasetsEvents: EventDefinitions = {
  private_scan_failed: {
    level: "warn",
    msg: "Legacy does not answer the scan for private datasets.",
    notes: "The scan begins again by itself.",
  },
  private_scan_refused: {
    level: "error",
    msg: "Legacy refused the key of the scan for private datasets.",
    notes: "Check that `LEGACY_ADMIN_KEY` is an administrator's.",
  },
  private_row_hidden: {
    level: "warn",
    msg: "Legacy does not show a private dataset.",
    notes: "An administrator does not see it either (no file, broken description); `why` says more.",
  },
  private_row_unfit: {
    level: "warn",
    msg: "A private dataset does not fit the schema of the list.",
    notes: "The list lacks it and says `private=incomplete`.",
  },
};
