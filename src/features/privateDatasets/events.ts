import type { EventDefinitions } from "../../telemetry/events.ts";

/** The events of the feature. */
export const privateDatasetsEvents: EventDefinitions = {
  private_walk_failed: { level: "warn", msg: "Legacy does not answer the search for private datasets." },
  private_walk_refused: { level: "error", msg: "Legacy refused the key of the search for private datasets." },
  private_row_hidden: { level: "warn", msg: "Legacy does not show a private dataset." },
  private_row_unfit: { level: "warn", msg: "A private dataset does not fit the schema of the list." },
  private_index_store_up: { level: "info", msg: "The index of private datasets is stored again." },
  private_index_store_lost: { level: "error", msg: "The index of private datasets cannot be stored." },
  private_index_store_restored: { level: "warn", msg: "The index of private datasets was lost, and written back." },
  private_index_store_unreadable: { level: "error", msg: "The stored index of private datasets cannot be read." },
};
