import { endpoint } from "../src/catalogue/endpoint/endpoint.ts";
import { identifier, oneOf } from "../src/catalogue/endpoint/field.ts";
import { changed } from "../src/catalogue/endpoint/groups.ts";
import { post } from "../src/catalogue/endpoint/legacyRequest.ts";
import { object, renamed, unwrapped } from "../src/catalogue/rules/compose.ts";
import { integer, text } from "../src/catalogue/rules/values.ts";
import { noDatasetToUpdate } from "./outcomes.ts";

export const updateDatasetStatus = endpoint("POST /datasets/status/update", {
  summary: "Deactivates a dataset; administrators can also activate one.",
  input: { dataset_id: identifier, status: oneOf(["active", "deactivated"]) },
  writes: ({ dataset_id }) => changed("dataset", [dataset_id]),
  legacy: ({ dataset_id, status }) => post("/data/status/update", { data_id: dataset_id, status }),
  notFound: noDatasetToUpdate,
  modern: { codes: [111] },
  output: unwrapped("data_status_update", object({ dataset_id: renamed("id", integer), status: text })),
  examples: { deactivate: { dataset_id: 1, status: "deactivated" } },
  exampleAnswer: { dataset_id: 1, status: "deactivated" },
});
