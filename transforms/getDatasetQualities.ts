import {
  anyOrder,
  endpoint,
  get,
  identifier,
  javaNumber,
  list,
  object,
  text,
  unwrapped,
} from "../src/catalogue/index.ts";
import { firstDataset } from "./firstEntry.ts";
import { legacyError } from "./legacyErrors.ts";
import { noNumber } from "./legacyLosses.ts";
import { ofDataset } from "./lifetimes.ts";

export const getDatasetQualities = endpoint("GET /datasets/qualities/{dataset_id}", {
  summary: "What was measured of a dataset: numbers of rows, of columns and more.",
  also: ["GET /datasets/{dataset_id}/qualities"],
  input: { dataset_id: identifier },
  legacy: ({ dataset_id }) => get`/data/qualities/${dataset_id}`,
  notFound: legacyError(361),
  // Legacy also answers 361 for a private dataset, and modern may: the dataset's document shows which it is.
  access: { endpoint: "getDataset", input: ({ dataset_id }) => ({ dataset_id }) },
  recover: { code: 361, look: ({ dataset_id }) => get`/data/${dataset_id}`, errors: new Set([112]) },
  modern: { codes: [111] },

  output: unwrapped("data_qualities", unwrapped("quality", anyOrder(list(object({ name: text, value: javaNumber }))))),

  legacyForm: {
    elements: "data_qualities{quality*{name value}}",
    codes: { 111: "361", 112: "361" },
    losses: { "/data_qualities/quality/value": noNumber },
  },
  cache: ofDataset("24h"),
  first: firstDataset,
  examples: { small: { dataset_id: 1 }, notProcessed: { dataset_id: 18 }, unknown: { dataset_id: 1_000_000 } },
  exampleAnswer: [{ name: "NumberOfInstances", value: 150 }],
});
