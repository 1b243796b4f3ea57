import { collection, integer, object, optional } from "../src/catalogue/index.ts";
import { idList, listBy, MAX_ROWS, page, tagFilter } from "./filters.ts";
import { legacyError } from "./legacyErrors.ts";
import { repeats } from "./legacyLosses.ts";
import { limitTooHigh } from "./outcomes.ts";
import { pagedList } from "./pagedList.ts";
import { listedParameters } from "./setupParameters.ts";

export const listSetups = pagedList("POST /setups/list", {
  summary: "The setups that match every filter, with the value of each parameter.",
  also: ["GET /setups/list", "GET /setup/list/{...filters}"],
  input: { flow: idList, setup: idList, tag: tagFilter, ...page(MAX_ROWS) },
  legacy: (filters) => listBy(["setup", "list"], filters),
  notFound: legacyError(674),
  errors: { 676: limitTooHigh },

  wrappers: ["setups", "setup"],
  row: object({ setup_id: integer, flow_id: integer, parameter: optional(listedParameters) }),

  legacyForm: {
    elements: `setups{setup*{setup_id flow_id
    parameter*{id flow_id flow_name full_name parameter_name data_type default_value value}}}`,
    page: MAX_ROWS,
    needsFilter: true,
    losses: { "/setups/setup/parameter": repeats },
  },
  isPublic: true,
  groups: () => [collection("setup")],
  examples: { firstFive: { limit: 5 }, byFlow: { flow: 103 }, none: { tag: "no-such-tag" } },
  exampleAnswer: [{ setup_id: 1, flow_id: 101 }],
});
