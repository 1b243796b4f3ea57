import { readFileSync } from "node:fs";
import type { FlowRow, ProcedureRow, RunRow, SetupRow, StudyRow, TaskRow, TaskTypeRow, User } from "./catalogueRows.ts";
import { type ShortDataset, completeDataset } from "./completeDataset.ts";

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/catalogue/${name}.json`, import.meta.url), "utf8"));

const users: User[] = read("users");
const datasets: { basicQualities: string[]; rows: ShortDataset[] } = read("datasets");
const setups: SetupRow[] = read("setups");
const flows: FlowRow[] = read("flows");
const studies: StudyRow[] = read("studies");
const tasks: TaskRow[] = read("tasks");
const runs: RunRow[] = read("runs");
const taskTypes: TaskTypeRow[] = read("taskTypes");
const estimationProcedures: ProcedureRow[] = read("estimationProcedures");
const evaluationMeasures: string[] = read("evaluationMeasures");

/** The data of the sample server. Each server starts with a copy of the datasets and tags. */
export const sampleCatalogue = {
  users,
  /** The qualities that legacy's dataset list shows. */
  basicQualities: datasets.basicQualities,
  datasets: datasets.rows.map(completeDataset),
  setups,
  flows,
  studies,
  tasks,
  runs,
  taskTypes,
  estimationProcedures,
  evaluationMeasures,
};
