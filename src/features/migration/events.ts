import type { EventDefinitions } from "../../telemetry/events.ts";

/** The events of the feature. */
export const migrationEvents: EventDefinitions = {
  modern_failed: {
    level: "warn",
    msg: "Modern gave no answer that can be served.",
    isOfRequest: true,
    notes: "Legacy answered a read, a write was 502. Look at `why` before you raise the share.",
  },
  stage_moved: {
    level: "info",
    msg: "An endpoint moved to another stage.",
    notes: "An operator or the promotion gate moved it; the line says from where, to where, who and why.",
  },
  stages_unproven: {
    level: "warn",
    msg: "The configuration has modern answer callers against the evidence.",
    notes: "Nothing was compared for the endpoints that it names, or answers are unexplained. Look at `STAGES`.",
  },
  stage_not_kept: {
    level: "error",
    msg: "A move of a stage could not be stored.",
    notes: "It, or the change of a gate, did not take effect. Look at `DATA_DIR` or Redis, and try again.",
  },
  canary_one_bucket: {
    level: "warn",
    msg: "All callers of a canary look like one.",
    notes:
      "At least 100 requests fall into one bucket: the share moves all callers or none. See [behind a proxy](#behind-a-proxy).",
  },
  migration_store_up: { level: "info", msg: "The store of stages is reachable again." },
  migration_store_lost: {
    level: "error",
    msg: "The store of stages is not reachable.",
    notes: "The gateway goes on with the stages and expected differences that it knows. Moves are refused meanwhile.",
  },
  migration_store_restored: {
    level: "warn",
    msg: "The store of stages had lost entries, which were written back.",
    notes: "Redis was flushed or replaced.",
  },
  migration_store_overtaken: {
    level: "warn",
    msg: "A move was lost, and a later one holds.",
    notes: "Redis had lost a move of this endpoint, and somebody moved it meanwhile. Check its stage.",
  },
  migration_store_unreadable: {
    level: "error",
    msg: "An entry of the store of stages cannot be read.",
    notes: "The gateway ignores it and leaves it there.",
  },
  migration_store_unknown: {
    level: "info",
    msg: "The store has a stage of an endpoint that is not known.",
    notes: "Another version has it. Nothing to do.",
  },
  migration_store_error: {
    level: "error",
    msg: "The store of stages failed.",
    notes: "`DATA_DIR/migration.sqlite` could not be written. Free the disk or mend its rights.",
  },
};
