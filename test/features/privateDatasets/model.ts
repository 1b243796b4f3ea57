import type { DatasetRow, User } from "../../../tools/sampleLegacy/catalogueRows.ts";
import { isSameText } from "../../../tools/sampleLegacy/textQuirks.ts";

/** The body of a list request, as far as it is sound. */
export type ListInput = {
  status?: "active" | "deactivated" | "in_preparation" | "all";
  tag?: string;
  data_name?: string;
  data_version?: number;
  uploader?: number;
  data_id?: number | number[];
  number_instances?: number | string;
  number_features?: number | string;
  number_classes?: number | string;
  number_missing_values?: number | string;
  limit?: number;
  offset?: number;
};

/** One entry of the list. */
export type ListedRow = {
  did: number;
  name: string;
  version: number;
  format: string;
  file_id: number | null;
  status: string;
  md5_checksum: null;
  quality: { name: string; value: number }[];
};

export type ModelAnswer = { status: 200; body: ListedRow[] } | { status: 404 };

/** The qualities that the list shows, in the order in which the rows hold them. */
const shown = [
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
];

const asNumber = (value: number | string): number | null =>
  value !== "" && Number.isFinite(Number(value)) ? Number(value) : null;

const listed = (row: DatasetRow): ListedRow => ({
  did: row.id,
  name: row.name,
  version: row.version,
  format: row.format.toLowerCase(),
  file_id: row.file_id,
  status: row.status,
  md5_checksum: null,
  quality: shown.flatMap((name, i) => {
    const value = asNumber(row.qualities[i] ?? "");
    return value === null ? [] : [{ name, value }];
  }),
});

const maySee = (row: DatasetRow, caller: User | undefined): boolean =>
  row.visibility === "public" || caller?.role === "administrator" || row.uploader === caller?.id;

/** `undefined` asks for nothing. */
const within = (row: DatasetRow, name: string, range: number | string | undefined): boolean => {
  if (range === undefined) return true;
  const value = listed(row).quality.find((it) => it.name === name)?.value ?? null;
  const [low = 0, high = low] = `${range}`.split("..").map(Number);
  return value !== null && low <= value && value <= high;
};

export const matches = (row: DatasetRow, input: ListInput): boolean => {
  const { status = "active", tag, data_name, data_version, uploader, data_id } = input;
  return (
    (status === "all" || row.status === status) &&
    (tag === undefined || row.tags.some(([known]) => isSameText(known, tag))) &&
    (data_name === undefined || isSameText(row.name, data_name)) &&
    (data_version === undefined || row.version === data_version) &&
    (uploader === undefined || row.uploader === uploader) &&
    (data_id === undefined || [data_id].flat().includes(row.id)) &&
    within(row, "NumberOfInstances", input.number_instances) &&
    within(row, "NumberOfFeatures", input.number_features) &&
    within(row, "NumberOfClasses", input.number_classes) &&
    within(row, "NumberOfMissingValues", input.number_missing_values)
  );
};

/**
 * The new interface's list of datasets over all rows, straight from the decisions: every answer
 * is checked against this.
 */
export const modelList = (rows: readonly DatasetRow[], caller: User | undefined, input: ListInput): ModelAnswer => {
  const { limit = 100, offset = 0 } = input;
  const found = rows.filter((row) => maySee(row, caller) && matches(row, input)).toSorted((a, b) => a.id - b.id);
  const body = found.slice(offset, offset + limit).map(listed);
  return body.length === 0 ? { status: 404 } : { status: 200, body };
};
