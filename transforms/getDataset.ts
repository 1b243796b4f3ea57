import {
  anyOrder,
  commaSeparated,
  endpoint,
  get,
  identifier,
  integer,
  isoTimestamp,
  isUnset,
  type Json,
  type JsonObject,
  list,
  member,
  nullable,
  object,
  onlyWhen,
  text,
  timestamp,
  unwrapped,
  urlList,
} from "../src/catalogue/index.ts";
import { formatName } from "./formatName.ts";
import { legacyError } from "./legacyErrors.ts";
import { emptyValues, formatCase, splitNames } from "./legacyLosses.ts";
import { firstDataset } from "./firstEntry.ts";
import { ofDataset } from "./lifetimes.ts";

/** Legacy names a Parquet file for almost every format, but has the file only for ARFF. */
const isArff = ({ format }: JsonObject): boolean => typeof format === "string" && format.toLowerCase() === "arff";

/** Milliseconds after its upload in which legacy's workers process a dataset; later they never do. */
const PROCESSED_WITHIN = 24 * 3_600_000;

const isProcessed = (ours: Json): boolean =>
  member(ours, "status") !== "in_preparation" && !isUnset(member(ours, "processing_date"));

/** Legacy writes the time of its server without a zone: it is read as UTC. NaN if there is no time. */
const uploadedAt = (ours: Json): number => {
  const date = member(ours, "upload_date");
  return typeof date === "string" ? Date.parse(`${date}Z`) : Number.NaN;
};

export const getDataset = endpoint("GET /datasets/{dataset_id}", {
  summary: "Everything known about one dataset, except its data.",
  input: { dataset_id: identifier },
  legacy: ({ dataset_id }) => get`/data/${dataset_id}`,
  notFound: legacyError(111),
  echoes: { dataset_id: ["id"] },
  // PHP's notices for a dataset without a description row; the other fields are complete.
  harmlessNotices: [/^(Attempt to read|Trying to get) property ['"](version|description)['"] (on bool|of non-object)$/],

  output: unwrapped(
    "data_set_description",
    object({
      id: integer,
      visibility: nullable(text),
      status: nullable(text),
      name: nullable(text),
      licence: nullable(text),
      version: nullable(integer),
      version_label: nullable(text),
      language: nullable(text),
      creator: commaSeparated,
      contributor: commaSeparated,
      citation: nullable(text),
      paper_url: nullable(text),
      upload_date: nullable(isoTimestamp),
      processing_date: nullable(timestamp),
      error: nullable(text),
      warning: nullable(text),
      collection_date: nullable(text),
      description: nullable(text),
      description_version: nullable(integer),
      tag: anyOrder(list(text)),
      default_target_attribute: commaSeparated,
      ignore_attribute: list(text),
      row_id_attribute: commaSeparated,
      url: nullable(text),
      parquet_url: onlyWhen("Present only where `format` is `arff`.", isArff, nullable(text)),
      file_id: nullable(integer),
      format: nullable(formatName),
      original_data_url: urlList,
      md5_checksum: nullable(text),
    }),
  ),

  legacyForm: {
    elements: `data_set_description{id name version description description_version format creator* contributor* collection_date?
    upload_date language? licence? url parquet_url? file_id? default_target_attribute? row_id_attribute?
    ignore_attribute* version_label? citation? tag* visibility? original_data_url? paper_url? status processing_date?
    error? warning? md5_checksum}`,
    losses: {
      "/data_set_description/format": formatCase,
      "/data_set_description/parquet_url": "Legacy names a Parquet file for most formats, but has it only for ARFF.",
      "/data_set_description/creator": splitNames,
      "/data_set_description/contributor": splitNames,
      "/data_set_description/default_target_attribute": splitNames,
      "/data_set_description/row_id_attribute": splitNames,
      "/data_set_description/original_data_url": splitNames,
      "/data_set_description/ignore_attribute": emptyValues,
      "/data_set_description/citation": emptyValues,
    },
  },
  cache: {
    ...ofDataset("10m"),
    unfinishedUntil: (ours) => (isProcessed(ours) ? undefined : uploadedAt(ours) + PROCESSED_WITHIN),
  },
  first: firstDataset,
  examples: { iris: { dataset_id: 61 }, unknown: { dataset_id: 1_000_000 } },
  exampleAnswer: {
    id: 61,
    visibility: "public",
    status: "active",
    name: "iris",
    licence: "Public",
    version: 1,
    version_label: null,
    language: "English",
    creator: ["R.A. Fisher"],
    contributor: [],
    citation: null,
    paper_url: null,
    upload_date: "2020-05-06T07:08:09",
    processing_date: "2021-04-04T04:04:04",
    error: null,
    warning: null,
    collection_date: "1936",
    description: "Fifty flowers of each of three species, four lengths each.",
    description_version: 1,
    tag: ["flowers", "study_10"],
    default_target_attribute: ["class"],
    ignore_attribute: [],
    row_id_attribute: [],
    url: "https://legacy.example/data/v1/download/61/iris.arff",
    parquet_url: "https://files.example/datasets/0000/0061/dataset_61.pq",
    file_id: 61,
    format: "arff",
    original_data_url: ["https://archive.ics.uci.edu/ml/datasets/Iris"],
    md5_checksum: "b337ff2db337ff2db337ff2db337ff2d",
  },
});
