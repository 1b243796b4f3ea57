import {
  changed,
  endpoint,
  identifier,
  integer,
  object,
  oneOf,
  post,
  renamed,
  text,
  unwrapped,
} from "../src/catalogue/index.ts";
import { legacyError } from "./legacyErrors.ts";

export const updateDatasetStatus = endpoint("POST /datasets/status/update", {
  summary: "Deactivates a dataset; administrators can also activate one.",
  input: { dataset_id: identifier, status: oneOf(["active", "deactivated"]) },
  writes: ({ dataset_id }) => changed("dataset", [dataset_id]),
  legacy: ({ dataset_id, status }) => post("/data/status/update", { data_id: dataset_id, status }),
  notFound: legacyError(692),
  echoes: { dataset_id: ["dataset_id"] },
  modern: { codes: [111] },
  output: unwrapped("data_status_update", object({ dataset_id: renamed("id", integer), status: text })),
  examples: { deactivate: { dataset_id: 1, status: "deactivated" } },
  exampleAnswer: { dataset_id: 1, status: "deactivated" },
});
