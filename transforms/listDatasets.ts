import {
  collection,
  dropped,
  getSegments,
  havingValue,
  integer,
  javaNumber,
  list,
  nullable,
  number,
  object,
  text,
  verbatim,
  withDefault,
} from "../src/catalogue/index.ts";
import { datasetFilters } from "./datasetFilters.ts";
import { datasetRow } from "./datasetRow.ts";
import {
  datasetName,
  datasetSizes,
  datasetStatus,
  filterSegments,
  idFilter,
  idList,
  page,
  tagFilter,
} from "./filters.ts";
import { formatCase, noNumber } from "./legacyLosses.ts";
import { formatName } from "./formatName.ts";
import { legacyError } from "./legacyErrors.ts";
import { pagedList } from "./pagedList.ts";

export const listDatasets = pagedList("POST /datasets/list", {
  summary: "The datasets that match every filter.",
  also: ["GET /datasets/list", "GET /data/list/{...filters}"],
  input: {
    status: withDefault(datasetStatus, "active"),
    tag: tagFilter,
    data_name: datasetName,
    data_version: idFilter,
    uploader: idFilter,
    data_id: idList,
    ...datasetSizes,
    ...page(),
  },
  legacy: (filters) => getSegments(["data", "list", ...filterSegments(filters)]),
  notFound: legacyError(372),

  rowById: { ...datasetRow, filters: datasetFilters },

  wrappers: ["data", "dataset"],
  row: object({
    did: integer,
    name: nullable(verbatim(text)),
    version: nullable(integer),
    format: nullable(verbatim(formatName)),
    file_id: nullable(integer),
    status: nullable(text),
    md5_checksum: nullable(text),
    // Legacy omits qualities without a value.
    quality: havingValue("value", number, list(object({ name: text, value: javaNumber }))),
    // Only the XML, which is used if the JSON is broken, names the uploader.
    uploader: dropped,
  }),

  legacyForm: {
    elements: `data{dataset*{#did name #version status format md5_checksum/json="" #file_id? quality*{@name =value}}}`,
    isTemplate: true,
    page: 10_000,
    losses: {
      "/data/dataset/uploader": "The rows of the new interface have no uploader.",
      "/data/dataset/format": formatCase,
      "/data/dataset/quality": noNumber,
    },
  },
  groups: () => [collection("dataset")],
  examples: { firstFive: { limit: 5 }, byTag: { tag: "flowers", limit: 10 }, none: { data_name: "no-such-dataset" } },
  exampleAnswer: [
    {
      did: 61,
      name: "iris",
      version: 1,
      format: "arff",
      file_id: 61,
      status: "active",
      md5_checksum: null,
      quality: [{ name: "NumberOfInstances", value: 150 }],
    },
  ],
});
