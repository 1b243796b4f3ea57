import { getSegments } from "../src/endpoint/legacyRequest.ts";
import type { PrivateRowsKnowledge } from "../src/endpoint/privateRows.ts";
import { entriesOf, member } from "../src/rules/compose.ts";
import type { JsonObject } from "../src/rules/rule.ts";
import { collated } from "./collation.ts";
import { datasetApart, idIn, textOf } from "./datasetApart.ts";

const qualityOf = (shown: JsonObject, name: string): number => {
  const quality = entriesOf(shown["quality"]).find((one) => member(one, "name") === name);
  return Number.parseFloat(textOf(member(quality, "value")));
};

type Test = (shown: JsonObject) => boolean;

const sameText =
  (name: string) =>
  (wanted: unknown): Test => {
    const text = collated(String(wanted));
    return (shown) => collated(textOf(shown[name])) === text;
  };

/** A number or `low..high`. */
const within =
  (quality: string) =>
  (wanted: unknown): Test => {
    const [low = Number.NaN, high = low] = String(wanted).split("..").map(Number);
    return (shown) => {
      const value = qualityOf(shown, quality);
      return value >= low && value <= high;
    };
  };

/** The test of each filter; cheap ones come first. */
const filters: Record<string, (wanted: unknown) => Test> = {
  status: (wanted) => (wanted === "all" ? () => true : ({ status }) => textOf(status).toLowerCase() === wanted),
  data_version: (wanted) => (shown) => Number(shown["version"]) === wanted,
  number_instances: within("NumberOfInstances"),
  number_features: within("NumberOfFeatures"),
  number_classes: within("NumberOfClasses"),
  number_missing_values: within("NumberOfMissingValues"),
  data_name: sameText("name"),
  tag(wanted) {
    const text = collated(String(wanted));
    return ({ tag }) => entriesOf(tag).some((one) => collated(textOf(one)) === text);
  },
};

/** Legacy lists private datasets to their uploaders only, and shows each by itself to administrators, too. */
export const privateDatasets: PrivateRowsKnowledge = {
  endpoint: "listDatasets",
  kind: "dataset",

  // Legacy checks rights before the illegal filter: an administrator gets 1011 (filter), any other key 106 (rights).
  adminProbe: {
    request: { method: "GET", path: "/evaluation/request/1/normal/1/none/0" },
    statuses: { 1011: "administrator", 106: "other" },
  },

  listed: ({ offset, limit }) => getSegments(["data", "list", "status", "all", "limit", limit, "offset", offset]),
  listedAmong: (ids) => getSegments(["data", "list", "status", "all", "data_id", ids.join(",")]),
  // Legacy's paths have a maximum length.
  mostIds: 500,
  idsIn(legacy) {
    const ids = entriesOf(member(legacy, "data", "dataset")).map((row) => idIn(member(row, "did")));
    return ids.length === 0 || ids.includes(undefined) ? undefined : (ids as number[]);
  },
  noneListed: new Set([372]),

  ...datasetApart,
  matching(input) {
    const ids = input["data_id"] === undefined ? undefined : new Set(input["data_id"] as number[]);
    const wanted = input["uploader"];
    const tests = Object.entries(filters).flatMap(([name, filter]) =>
      input[name] === undefined ? [] : [filter(input[name])],
    );
    return ({ id, shown, uploader }) => {
      if (ids?.has(id) === false) return false;
      if (wanted !== undefined && uploader !== undefined && wanted !== uploader) return false;
      if (shown === undefined) return undefined;
      if (!tests.every((test) => test(shown))) return false;
      return wanted !== undefined && uploader === undefined ? undefined : true;
    };
  },
  pageOf: ({ offset, limit }) => ({ offset: Number(offset), limit: Number(limit) }),
  withPage: (input, { offset, limit }) => ({ ...input, offset, limit }),
  withIds: (input, ids) => ({ ...input, data_id: ids, offset: 0, limit: ids.length }),
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
    // The search index failed.
    writtenAllTheSame: new Set([105]),
    tags: /\/data\/(un)?tag\/?$/,
    created: /"upload_data_set":\s*\{\s*"id":\s*"?(\d{1,10})|<oml:upload_data_set[^>]*>\s*<oml:id>(\d{1,10})</,
  },
};
