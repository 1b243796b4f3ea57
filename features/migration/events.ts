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
  old_clients_held: {
    level: "warn",
    msg: "Old clients of an endpoint no longer follow its stage.",
    notes:
      "Legacy's answer to one of them has what modern's would lose, and no named loss covers it. Legacy answers old clients until that is mended, or a move gives a reason. `GET /differences` has the places.",
  },
  stages_lost: {
    level: "error",
    msg: "Redis has lost stages that were set at run time; those of the configuration hold.",
    notes:
      "Redis was flushed or replaced. `had` says which `endpoints` had which stage. The page has a button that sets them again, as does `POST /stages` with `lost`.",
  },
};
