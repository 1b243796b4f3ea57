import { endpoint } from "../src/endpoint/endpoint.ts";
import { collection } from "../src/endpoint/groups.ts";
import { list, object, optional, unwrapped } from "../src/rules/compose.ts";
import { integer } from "../src/rules/values.ts";
import { idList, listBy, page, pageGroups, tagFilter } from "./filters.ts";
import { noSetups } from "./outcomes.ts";
import { listedParameters } from "./setupParameters.ts";

export const listSetups = endpoint("POST /setups/list", {
  summary: "The setups that match every filter, with the value of each parameter.",
  also: ["GET /setups/list", "GET /setup/list/{...filters}"],
  input: { flow: idList, setup: idList, tag: tagFilter, ...page(1000) },
  groups: pageGroups,
  legacy: (filters) => listBy(["setup", "list"], filters),
  notFound: noSetups,

  output: unwrapped(
    "setups",
    unwrapped("setup", list(object({ setup_id: integer, flow_id: integer, parameter: optional(listedParameters) }))),
  ),

  cache: {
    fresh: "1m",
    staleWhileRevalidate: "1h",
    staleIfError: "1h",
    groups: () => [collection("setup")],
  },
  examples: { firstFive: { limit: 5 }, byFlow: { flow: 103 }, none: { tag: "no-such-tag" } },
  exampleAnswer: [{ setup_id: 1, flow_id: 101 }],
});
