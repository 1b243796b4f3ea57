import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dataOf } from "./arff.ts";
import type { DatasetRow, FlowRow, CatalogueRow, RunRow, StudyRow, User, WrittenRow } from "./catalogueRows.ts";
import { completeDataset } from "./completeDataset.ts";
import type { Tree } from "./tree.ts";

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../fixtures/catalogue/${name}.json`, import.meta.url), "utf8"));

/** All rows, by their kind. */
export type CatalogueRows = {
  users: User[];
  datasets: DatasetRow[];
  setups: (WrittenRow & { flow_id: number })[];
  flows: FlowRow[];
  studies: StudyRow[];
  tasks: (WrittenRow & { data_id: number; listed: Record<string, string> })[];
  runs: RunRow[];
  taskTypes: (WrittenRow & { listed: Tree })[];
  estimationProcedures: (CatalogueRow & Tree)[];
  evaluationMeasures: string[];
};

const { basicQualities: names, rows }: { basicQualities: string[]; rows: DatasetRow[] } = read("datasets");
const others = [
  "users",
  "setups",
  "flows",
  "studies",
  "tasks",
  "runs",
  "taskTypes",
  "estimationProcedures",
  "evaluationMeasures",
];

/** The qualities that legacy's dataset list shows, by name; `null` is an unset value. */
export const basicQualities = ({ qualities }: DatasetRow): [name: string, value: string | null][] =>
  qualities.map((value, i) => [
    names[i] ?? "",
    Number.isInteger(value) ? `${value}.0` : value === null ? null : `${value}`,
  ]);

/** The data file of a dataset; `undefined` if it has no file, or a file in another format than ARFF. */
export const dataFileOf = (dataset: DatasetRow): string | undefined => {
  if (dataset.file_id === null || dataset.format.toLowerCase() !== "arff") return undefined;
  return dataOf(dataset, Number(basicQualities(dataset).find(([name]) => name === "NumberOfInstances")?.[1]));
};

/** Clients refuse a file whose checksum differs from its record. */
const withChecksum = (dataset: DatasetRow): DatasetRow => {
  const file = dataFileOf(dataset);
  return file === undefined ? dataset : { ...dataset, md5_checksum: hash("md5", file) };
};

/** The rows that each sample server starts with, as a copy. */
export const sampleCatalogue = {
  datasets: rows.map((row) =>
    row.md5_checksum === undefined ? withChecksum(completeDataset(row)) : completeDataset(row),
  ),
  ...Object.fromEntries(others.map((name) => [name, read(name)])),
} as CatalogueRows;

/** A list of legacy. An error names the filters in the order of `filters`. */
export type ListTable = {
  root: string;
  row: string;
  errors: Record<"illegal" | "unsafe" | "offset" | "none", number>;
  /** The kind of each filter, and the column or quality that it tests. */
  filters: Record<string, string>;
  columns: string;
  before?: string;
  between?: string;
  /** Legacy's template of a row in JSON, with its blanks. `$name` is a value, which legacy does not escape. */
  template?: string;
};

/** Legacy's lists, by path. */
export const listTables: Record<string, ListTable> = read("lists");

/** The names of all qualities. */
export const allQualities = [
  ...new Set([...names, ...rows.flatMap(({ otherQualities = {} }) => Object.keys(otherQualities))]),
].toSorted();
