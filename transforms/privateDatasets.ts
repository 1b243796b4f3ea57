import { get, getSegments } from "../src/endpoint/legacyRequest.ts";
import type { PrivateRowsKnowledge } from "../src/privateRows/knowledge.ts";
import { entriesOf } from "../src/rules/compose.ts";
import { isObject, type Json, type JsonObject } from "../src/rules/rule.ts";
import { collated } from "./collation.ts";

/** Of all qualities, those that legacy's list shows. */
const listedQualities = new Set([
  "MajorityClassSize",
  "MaxNominalAttDistinctValues",
  "MinorityClassSize",
  "NumberOfClasses",
  "NumberOfFeatures",
  "NumberOfInstances",
  "NumberOfInstancesWithMissingValues",
  "NumberOfMissingValues",
  "NumberOfNumericFeatures",
  "NumberOfSymbolicFeatures",
  "NumBinaryAtts",
]);

const member = (value: Json | undefined, name: string): Json | undefined => (isObject(value) ? value[name] : undefined);
const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

const datasetIn = (legacy: JsonObject): Json | undefined => legacy["data_set_description"];

const qualitiesIn = (legacy: JsonObject | undefined): Json[] =>
  entriesOf(member(legacy?.["data_qualities"], "quality")).filter(
    (quality) => listedQualities.has(textOf(member(quality, "name"))) && textOf(member(quality, "value")) !== "",
  );

const qualityOf = (shown: JsonObject, name: string): number => {
  const quality = entriesOf(shown["quality"]).find((one) => member(one, "name") === name);
  return Number.parseFloat(textOf(member(quality, "value")));
};

/** As a list shows it. */
const withoutTags = (shown: JsonObject): JsonObject => {
  const { tag: _, ...listed } = shown;
  return listed;
};

/** What each filter asks of a row. */
type Test = (shown: JsonObject, asked: unknown) => boolean;

const sameText =
  (name: string): Test =>
  (shown, asked) =>
    collated(textOf(shown[name])) === collated(String(asked));

/** A number or `low..high`. */
const within =
  (quality: string): Test =>
  (shown, asked) => {
    const [low, high = low] = String(asked).split("..").map(Number);
    const value = qualityOf(shown, quality);
    return low !== undefined && high !== undefined && value >= low && value <= high;
  };

const tests: Record<string, Test> = {
  status: (shown, asked) => asked === "all" || sameText("status")(shown, asked),
  tag: ({ tag }, asked) => entriesOf(tag).some((one) => collated(textOf(one)) === collated(String(asked))),
  data_name: sameText("name"),
  data_version: ({ version }, asked) => Number(version) === asked,
  number_instances: within("NumberOfInstances"),
  number_features: within("NumberOfFeatures"),
  number_classes: within("NumberOfClasses"),
  number_missing_values: within("NumberOfMissingValues"),
};

/** Datasets: legacy lists the private ones to their uploaders alone, and shows each by itself to administrators too. */
export const privateDatasets: PrivateRowsKnowledge = {
  endpoint: "listDatasets",
  kind: "dataset",

  listed: ({ offset, limit }) => getSegments(["data", "list", "status", "all", "limit", limit, "offset", offset]),
  listedAmong: (ids) => getSegments(["data", "list", "status", "all", "data_id", ids.join(",")]),
  // A path of legacy's has its bounds.
  mostIds: 500,
  idsIn: (legacy) => entriesOf(member(legacy["data"], "dataset")).map((row) => Number(member(row, "did"))),
  noneListed: new Set([372]),

  one: (id) => get`/data/${id}`,
  isPrivate: (legacy) => member(datasetIn(legacy), "visibility") === "private",
  rest: (id) => get`/data/qualities/${id}`,
  // None, not processed yet, or in vain.
  noRest: new Set([362, 363, 364]),
  shown(legacy, rest) {
    const { id, name, version, status, format, file_id, tag } = datasetIn(legacy) as JsonObject;
    const known = {
      did: id,
      name,
      version,
      status,
      format,
      file_id,
      tag,
      md5_checksum: "",
      quality: qualitiesIn(rest),
    };
    return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as JsonObject;
  },

  matches(input, { id, shown, uploader }) {
    const ids = input["data_id"] as number[] | undefined;
    if (ids !== undefined && !ids.includes(id)) return false;
    if (input["uploader"] !== undefined && uploader !== undefined && input["uploader"] !== uploader) return false;
    if (shown === undefined) return undefined;
    const asked = Object.entries(tests).filter(([name]) => input[name] !== undefined);
    if (!asked.every(([name, test]) => test(shown, input[name]))) return false;
    return input["uploader"] !== undefined && uploader === undefined ? undefined : true;
  },
  pageOf: ({ offset, limit }) => ({ offset: Number(offset), limit: Number(limit) }),
  withPage: (input, { offset, limit }) => ({ ...input, offset, limit }),
  document: (rows) => ({ data: { dataset: rows.map(withoutTags) } }),
  idOf: (ours) => Number(member(ours, "did")),
  uploaderOf: ({ uploader }) => uploader as number | undefined,

  read: {
    endpoint: "getDataset",
    idOf: ({ dataset_id }) => Number(dataset_id),
    isPrivate: (ours) => member(ours, "visibility") === "private",
  },
  passing: {
    path: /\/data\/(\d{1,10})\/?$/,
    private: /"visibility":\s*"private"|<oml:visibility>private</,
    public: /"visibility":\s*"public"|<oml:visibility>public</,
    tags: /\/data\/(un)?tag\/?$/,
    created: /"upload_data_set":\s*\{\s*"id":\s*"?(\d{1,10})|<oml:upload_data_set[^>]*>\s*<oml:id>(\d{1,10})</,
  },
};
