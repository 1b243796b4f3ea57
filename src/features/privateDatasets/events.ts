import type { EventDefinitions } from "../../telemetry/events.ts";

/** The events of the feature. */
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
  private_index_store_up: { level: "info", msg: "What the scan for private datasets found is stored again." },
  private_index_store_lost: {
    level: "error",
    msg: "What the scan for private datasets finds cannot be stored.",
    notes: "The gateway goes on from memory. Look at `DATA_DIR` or Redis.",
  },
  private_index_store_restored: {
    level: "warn",
    msg: "What the scan for private datasets found was lost, and written back.",
    notes: "Redis was flushed or replaced.",
  },
  private_index_store_unreadable: {
    level: "error",
    msg: "What the scan for private datasets had stored cannot be read.",
    notes: "It may belong to another legacy. The scan begins anew.",
  },
};
