import {
  boolean,
  dropped,
  endpoint,
  entriesOf,
  get,
  identifier,
  integer,
  isUnset,
  type Json,
  list,
  nullable,
  object,
  own,
  parseJson,
  type Rule,
  sortedBy,
  text,
  unwrapped,
} from "../src/catalogue/index.ts";
import { firstDataset } from "./firstEntry.ts";
import { legacyError } from "./legacyErrors.ts";
import { emptyValues } from "./legacyLosses.ts";
import { ofDataset } from "./lifetimes.ts";

/**
 * The list in a JSON text, with numbers and booleans as they are written and without `null`; any other value unchanged.
 */
const listIn = (value: Json | undefined): Json | undefined => {
  const parsed = typeof value === "string" ? parseJson(value, asWritten) : undefined;
  return Array.isArray(parsed) ? parsed.filter((entry) => entry !== null) : value;
};

/** The values of a nominal feature are texts: `1.0` and `true` stay as they are written. */
const asWritten = (_: string, value: Json, { source }: { source?: string }): Json =>
  (typeof value === "number" || typeof value === "boolean") && source !== undefined ? source : value;

/**
 * Legacy writes one `nominal_value` after the other; some deployments write a single `nominal_values`. Only the latter
 * may be a JSON text.
 */
const nominalValues: Rule<string[]> = {
  ...list(text),
  to: "nominal_value",
  name: "nominalValues",
  does: '`nominal_value`, or else `nominal_values`, which may be a JSON text -> always a list of texts: `"[\\"a\\", 1.0]"` -> `["a", "1.0"]`',
  read(legacy, note, parent) {
    const ours = entriesOf(isUnset(legacy) ? own(parent, "nominal_value") : listIn(legacy));
    if (ours !== legacy) note.changed("nominalValues", legacy, ours);
    return ours;
  },
};

export const getDatasetFeatures = endpoint("GET /datasets/features/{dataset_id}", {
  summary: "The columns of a dataset, by their index.",
  also: ["GET /datasets/{dataset_id}/features"],
  input: { dataset_id: identifier },
  legacy: ({ dataset_id }) => get`/data/features/${dataset_id}`,
  notFound: legacyError(271),
  modern: { codes: [111] },

  output: unwrapped(
    "data_features",
    unwrapped(
      "feature",
      sortedBy(
        ["index"],
        list(
          object({
            index: integer,
            name: nullable(text),
            data_type: nullable(text),
            is_target: boolean,
            is_ignore: boolean,
            is_row_identifier: boolean,
            number_of_missing_values: nullable(integer),
            nominal_values: nominalValues,
            nominal_value: dropped,
            ontology: list(text),
          }),
        ),
      ),
    ),
  ),

  legacyForm: {
    elements: `data_features{feature*{index name data_type ontology* nominal_value* is_target is_ignore is_row_identifier
    number_of_missing_values}}`,
    codes: { 111: "271", 112: "275" },
    losses: { "/data_features/feature/nominal_value": emptyValues },
  },
  cache: ofDataset("24h"),
  first: firstDataset,
  examples: { small: { dataset_id: 1 }, notProcessed: { dataset_id: 18 }, unknown: { dataset_id: 1_000_000 } },
  exampleAnswer: [
    {
      index: 0,
      name: "class",
      data_type: "nominal",
      is_target: true,
      is_ignore: false,
      is_row_identifier: false,
      number_of_missing_values: 0,
      nominal_values: ["Iris-setosa", "Iris-versicolor"],
      ontology: [],
    },
  ],
});
