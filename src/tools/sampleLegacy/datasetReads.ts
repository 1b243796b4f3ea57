import type { Handler } from "./call.ts";
import { sampleCatalogue } from "./catalogue.ts";
import type { DatasetRow, User } from "./catalogueRows.ts";
import { type LegacyElement, element, escapeXml, optionalElement } from "./renderXml.ts";
import { sortTags } from "./tags.ts";
import { firstCsvLine, phpNotice } from "./textQuirks.ts";

/** Whether this caller has the rights of the dataset's owner. */
export const isOwn = (caller: User | undefined, { uploader }: DatasetRow): boolean =>
  caller !== undefined && (caller.id === uploader || caller.role === "administrator");

const downloads = "https://legacy.example/data/v1/download";
const parquets = "https://files.example/datasets";

/** Whether this caller may see the row. The list is stricter: it hides private rows from administrators, too. */
const mayRead = (caller: User | undefined, row: DatasetRow): boolean =>
  row.visibility === "public" || isOwn(caller, row);

const listed = (name: string, csv: string | undefined): LegacyElement[] =>
  csv ? firstCsvLine(csv).map((entry) => element(name, entry)) : [];

/** Legacy builds the file's name from the path segment as it came, leading zeros and all. */
const parquetUrl = ({ id, format }: DatasetRow, segment: string): LegacyElement[] => {
  if (format === "Sparse_ARFF") return [];
  const folder = `${Math.floor(id / 10_000)}`.padStart(4, "0");
  return [element("parquet_url", `${parquets}/${folder}/${`${id}`.padStart(4, "0")}/dataset_${segment}.pq`)];
};

/** `data/{id}`: everything about one dataset. */
export const dataById: Handler = ({ segments: [segment = ""], caller, datasets, faults }) => {
  if (segment === "0") return { error: 110 };
  const row = datasets.find(({ id }) => id === Number(segment));
  if (!row) return { error: 111 };
  if (!/^\d+$/.test(segment)) return "crash";
  if (!mayRead(caller, row)) return { error: 112 };
  if (row.file_id === null) return { error: 113 };

  const file = `${escapeXml(row.name)}.${row.format.toLowerCase()}`;
  const root = element("data_set_description", [
    element("id", row.id),
    element("name", row.name),
    element("version", row.version),
    element("description", row.description ?? ""),
    element("description_version", row.description_version ?? ""),
    element("format", row.format),
    ...listed("creator", row.creator),
    ...listed("contributor", row.contributor),
    ...optionalElement("collection_date", row.collection_date),
    element("upload_date", row.upload_date),
    ...optionalElement("language", row.language),
    ...optionalElement("licence", row.licence),
    element("url", `${downloads}/${row.file_id}/${file}`),
    ...parquetUrl(row, segment),
    element("file_id", row.file_id),
    ...optionalElement("default_target_attribute", row.default_target_attribute),
    ...optionalElement("row_id_attribute", row.row_id_attribute),
    ...listed("ignore_attribute", row.ignore_attribute),
    ...optionalElement("version_label", row.version_label),
    ...optionalElement("citation", row.citation),
    ...sortTags(row.tags).map(([tag]) => element("tag", tag)),
    element("visibility", row.visibility),
    ...optionalElement("original_data_url", row.original_data_url),
    ...optionalElement("paper_url", row.paper_url),
    element("status", row.status),
    ...optionalElement("processing_date", row.processing_date),
    ...optionalElement("error", row.error),
    ...optionalElement("warning", row.warning),
    element("md5_checksum", row.md5_checksum),
  ]);
  const notices = ["version", "description"].map((property, i) =>
    phpNotice(`Trying to get property '${property}' of non-object`, "v1/Api_data.php", 823 + i),
  );
  return { root, notices: faults.phpNotices && row.description === null ? notices.join("") : "" };
};

const roles = ["target", "ignore", "row_identifier"] as const;

/** `data/features/{id}`: the columns of a dataset. */
export const dataFeatures: Handler = ({ segments: [, segment], caller, datasets }) => {
  const row = datasets.find(({ id }) => id === Number(segment));
  if (!row) return { error: 271 };
  if (!mayRead(caller, row)) return { error: 275 };
  if (!row.features) return { error: row.processing_date === null ? 273 : row.error ? 274 : 272 };

  const features = row.features.map(({ name, type, values = [], ontology = [], role, missing = 0 }, index) =>
    element("feature", [
      element("index", index),
      element("name", name),
      element("data_type", type),
      ...ontology.map((url) => element("ontology", url)),
      ...values.map((value) => element("nominal_value", value)),
      ...roles.map((it) => element(`is_${it}`, `${it === role}`)),
      element("number_of_missing_values", missing),
    ]),
  );
  return { root: element("data_features", features) };
};

const asText = (value: number | string | null): string | null =>
  typeof value === "number" && Number.isInteger(value) ? `${value}.0` : value === null ? null : `${value}`;

/** The qualities that legacy's list shows, by name; null has no value. */
export const basicQualities = ({ qualities }: DatasetRow): [name: string, value: string | null][] =>
  qualities.map((value, i) => [sampleCatalogue.basicQualities[i] ?? "", asText(value)]);

/** The value of one quality as a number, NaN where there is none. */
export const qualityNumber = (row: DatasetRow, name: string): number =>
  Number(basicQualities(row).find(([known]) => known === name)?.[1] ?? "none");

/** `data/qualities/{id}[/engine]`: all qualities of a dataset, also those without a value. */
export const dataQualities: Handler = ({ segments: [, segment, engine = "1"], caller, datasets }) => {
  if (segment === "0") return { error: 360 };
  const row = datasets.find(({ id }) => id === Number(segment));
  if (!row || !mayRead(caller, row)) return { error: 361 };
  if (row.processing_date === null || Number(engine) !== 1) return { error: 363 };
  const qualities = [...basicQualities(row), ...Object.entries(row.otherQualities ?? {})];
  if (qualities.length === 0) return { error: row.error ? 364 : 362 };

  const children = qualities
    .toSorted(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
    .map(([name, value]) => element("quality", [element("name", name), element("value", value ?? "")]));
  return { root: element("data_qualities", children) };
};

/** `data/qualities/list`: the names of all qualities. */
export const qualityList: Handler = () => {
  const others = sampleCatalogue.datasets.flatMap(({ otherQualities = {} }) => Object.keys(otherQualities));
  const names = [...new Set([...sampleCatalogue.basicQualities, ...others])].toSorted();
  return {
    root: element(
      "data_qualities_list",
      names.map((name) => element("quality", name)),
    ),
  };
};
