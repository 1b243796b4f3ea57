import type { EventDefinitions } from "../../src/operation/index.ts";

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
    notes:
      "It did not take effect. If it is stored late, it may show for a moment in other gateways, and is taken back. Look at `DATA_DIR` or Redis, and try again.",
  },
  canary_one_bucket: {
    level: "warn",
    msg: "All callers of a canary look like one.",
    notes:
      "At least 100 requests fall into one bucket: the share moves all callers or none. See [behind a proxy](#behind-a-proxy).",
  },
  old_clients_differ: {
    level: "warn",
    msg: "An answer of modern to old clients would lose what no named loss covers.",
    notes:
      "Old clients that follow the endpoint's stage still do; others stay with legacy, and moves towards modern are held. `GET /differences` has the places: mend modern, or name the loss in the endpoint's form.",
  },
  stages_lost: {
    level: "error",
    msg: "Redis has lost stages that were set at run time; those of the configuration hold.",
    notes:
      "Redis was flushed or replaced. `had` says which `endpoints` had which stage. The page has a button that sets them again, as does `POST /stages` with `lost`.",
  },
};
