import type { EventDefinitions } from "../../telemetry/events.ts";

/** The events of the feature. */
export const migrationEvents: EventDefinitions = {
  modern_failed: { level: "warn", msg: "Modern gave no answer that can be served.", isOfRequest: true },
  stage_moved: { level: "info", msg: "An endpoint moved to another stage." },
  stages_unproven: { level: "warn", msg: "The configuration has modern answer callers against the evidence." },
  stage_not_kept: { level: "error", msg: "A move of a stage could not be stored." },
  canary_one_bucket: { level: "warn", msg: "All callers of a canary look like one." },
  migration_store_up: { level: "info", msg: "The store of stages is reachable again." },
  migration_store_lost: { level: "error", msg: "The store of stages is not reachable." },
  migration_store_restored: { level: "warn", msg: "The store of stages had lost entries, which were written back." },
  migration_store_overtaken: { level: "warn", msg: "A move was lost, and a later one holds." },
  migration_store_unreadable: { level: "error", msg: "An entry of the store of stages cannot be read." },
  migration_store_unknown: { level: "info", msg: "The store has a stage of an endpoint that is not known." },
  migration_store_error: { level: "error", msg: "The store of stages failed." },
};
