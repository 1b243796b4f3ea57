import { readFileSync } from "node:fs";
import type { DatasetRow, FlowRow, RunRow, SetupRow, StudyRow, TaskRow, TaskTypeRow, User } from "./catalogueRows.ts";
import { type ShortDataset, completeDataset } from "./completeDataset.ts";
import type { Tree } from "./tree.ts";

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/catalogue/${name}.json`, import.meta.url), "utf8"));

/** All rows, by the kind of entity. */
export type CatalogueRows = {
  users: User[];
  datasets: DatasetRow[];
  setups: SetupRow[];
  flows: FlowRow[];
  studies: StudyRow[];
  tasks: TaskRow[];
  runs: RunRow[];
  taskTypes: TaskTypeRow[];
  estimationProcedures: ({ id: number } & Tree)[];
  evaluationMeasures: string[];
};

const { basicQualities: names, rows }: { basicQualities: string[]; rows: ShortDataset[] } = read("datasets");

/** The data of the sample server. Each server starts with a copy. */
export const sampleCatalogue: CatalogueRows = {
  users: read("users"),
  datasets: rows.map(completeDataset),
  setups: read("setups"),
  flows: read("flows"),
  studies: read("studies"),
  tasks: read("tasks"),
  runs: read("runs"),
  taskTypes: read("taskTypes"),
  estimationProcedures: read("estimationProcedures"),
  evaluationMeasures: read("evaluationMeasures"),
};

/** The names of all qualities. */
export const allQualities = [
  ...new Set([...names, ...rows.flatMap(({ otherQualities = {} }) => Object.keys(otherQualities))]),
].toSorted();

const asText = (value: number | string | null): string | null =>
  typeof value === "number" && Number.isInteger(value) ? `${value}.0` : value === null ? null : `${value}`;

/** The qualities that legacy's dataset list shows, by name; null has no value. */
export const basicQualities = ({ qualities }: DatasetRow): [name: string, value: string | null][] =>
  qualities.map((value, i) => [names[i] ?? "", asText(value)]);
