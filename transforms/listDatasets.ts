import { endpoint } from "../src/endpoint/endpoint.ts";
import { withDefault } from "../src/endpoint/field.ts";
import { collection } from "../src/endpoint/groups.ts";
import { dropped, entriesOf, havingValue, list, member, nullable, object, unwrapped } from "../src/rules/compose.ts";
import { integer, lowercase, number, text, verbatim } from "../src/rules/values.ts";
import { getSegments } from "../src/endpoint/legacyRequest.ts";
import { datasetApart } from "./datasetApart.ts";
import {
  datasetName,
  datasetSizes,
  datasetStatus,
  filterSegments,
  idFilter,
  idList,
  page,
  pageGroups,
  tagFilter,
  narrowTo,
} from "./filters.ts";
import { noDatasets } from "./outcomes.ts";

export const listDatasets = endpoint("POST /datasets/list", {
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
  groups: pageGroups,
  legacy: (filters) => getSegments(["data", "list", ...filterSegments(filters)]),
  notFound: noDatasets,
  excerpt: ["did"],

  // Legacy does not escape names: a `"` breaks the JSON, an `&` the XML. A page with both cannot be parsed at all.
  rows: {
    begins: /"did":\s*(\d{1,10})\s*,\s*"name":\s*"|<oml:did>\s*(\d{1,10})\s*<\/oml:did>\s*<oml:name>/g,
    behind: /^(?:"\s*,\s*"version"|<\/oml:name>\s*<oml:version>)/,
    ends: /\]\s*\}\s*\}\s*$|<\/oml:data>\s*$/,
    most: 625,
    among: (input, ids) => narrowTo("data_id", input, ids),
    id: "did",
    text: "name",
    entriesIn: (legacy) => entriesOf(member(legacy, "data", "dataset")),
    members: ["did", "name", "version", "uploader", "status", "format", "md5_checksum", "file_id", "quality"],
    mayLack: { json: ["file_id"], xml: ["format", "file_id", "quality"] },
    apart: datasetApart,
  },

  output: unwrapped(
    "data",
    unwrapped(
      "dataset",
      list(
        object({
          did: integer,
          name: nullable(verbatim(text)),
          version: nullable(integer),
          format: nullable(verbatim(lowercase)),
          file_id: nullable(integer),
          status: nullable(verbatim(text)),
          md5_checksum: nullable(text),
          // Legacy omits qualities without a value.
          quality: havingValue("value", number, list(object({ name: text, value: number }))),
          // Only the XML form, which is used if the JSON is broken, names the uploader.
          uploader: dropped,
        }),
      ),
    ),
  ),

  cache: {
    fresh: "1m",
    staleWhileRevalidate: "1h",
    staleIfError: "1h",
    mayTurnPrivate: true,
    // Owners see their private rows.
    personal: true,
    groups: () => [collection("dataset")],
  },
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
