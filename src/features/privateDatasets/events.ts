import type { EventDefinitions } from "../../telemetry/events.ts";

/** The events of the feature. */
export const privateDatasetsEvents: EventDefinitions = {
  private_walk_failed: {
    level: "warn",
    msg: "Legacy does not answer the search for private datasets.",
    notes: "The search waits and goes on by itself.",
  },
  private_walk_refused: {
    level: "error",
    msg: "Legacy refused the key of the search for private datasets.",
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
  private_index_store_up: { level: "info", msg: "The index of private datasets is stored again." },
  private_index_store_lost: {
    level: "error",
    msg: "The index of private datasets cannot be stored.",
    notes: "The gateway goes on from memory. Look at `DATA_DIR` or Redis.",
  },
  private_index_store_restored: {
    level: "warn",
    msg: "The index of private datasets was lost, and written back.",
    notes: "Redis was flushed or replaced.",
  },
  private_index_store_unreadable: {
    level: "error",
    msg: "The stored index of private datasets cannot be read.",
    notes: "It may belong to another legacy. The search begins anew.",
  },
};
