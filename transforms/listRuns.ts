import {
  dropped,
  entriesOf,
  flag,
  integer,
  type JsonObject,
  type LegacyForm,
  member,
  nullable,
  object,
  optionalField,
  text,
  timestamp,
  verbatim,
} from "../src/catalogue/index.ts";
import { idFilter, idList, listBy, MAX_ROWS, page } from "./filters.ts";
import { legacyError } from "./legacyErrors.ts";
import { limitTooHigh } from "./outcomes.ts";
import { pagedList } from "./pagedList.ts";
import { requireFilter, runFilters, runGroups } from "./runLists.ts";

/** Legacy requires at least one of these filters. */
const narrowing = [...Object.keys(runFilters), "task_type", "study"];

/** The most tasks that a request asks for. */
const MAX_TASKS = 500;

/** The types of the runs' tasks, which only legacy's XML has. */
const taskTypes: NonNullable<LegacyForm["complete"]> = {
  endpoint: "listTasks",
  inputs(runs) {
    const ids = [...new Set(runs.map((run) => member(run, "task_id")))];
    return Array.from({ length: Math.ceil(ids.length / MAX_TASKS) }, (_, i) => ({
      task_id: ids.slice(i * MAX_TASKS, (i + 1) * MAX_TASKS),
      status: "all",
      limit: MAX_TASKS,
      offset: 0,
    }));
  },
  into(legacy, tasks) {
    const types = new Map(tasks.map((task) => [member(task, "task_id"), member(task, "task_type_id")]));
    const runs = entriesOf(member(legacy, "runs", "run")) as JsonObject[];
    const run = runs.map((row) => ({ ...row, task_type_id: types.get(member(row, "task_id")) ?? null }));
    // The list of tasks leaves out those on private datasets, and legacy's list of runs does not.
    return run.some(({ task_type_id: type }) => type === null) ? undefined : { runs: { run } };
  },
};

export const listRuns = pagedList("POST /runs/list", {
  summary: `The runs that match every filter: at least one of ${narrowing.join(", ")}.`,
  also: ["GET /runs/list", "GET /run/list/{...filters}"],
  input: {
    ...runFilters,
    task_type: idList,
    study: idFilter,
    // Without it, runs whose evaluation failed are left out.
    show_errors: optionalField(flag),
    ...page(MAX_ROWS),
  },
  legacy: ({ show_errors, ...filters }) =>
    listBy(["run", "list"], { ...filters, show_errors: show_errors ? String(show_errors) : undefined }),
  notFound: legacyError(512),
  errors: { 516: limitTooHigh },
  rejectEarly: requireFilter(510, narrowing, "POST /runs/list", ["run", "list"]),

  // Legacy escapes a run's message and details in neither format.
  texts: {
    members: ["run_id", "task_id", "setup_id", "flow_id", "uploader", "upload_time", "error_message", "run_details"],
    text: "error_message",
  },

  wrappers: ["runs", "run"],
  row: object({
    run_id: integer,
    task_id: integer,
    setup_id: nullable(integer),
    flow_id: nullable(integer),
    uploader: nullable(integer),
    upload_time: nullable(timestamp),
    error_message: nullable(verbatim(text)),
    run_details: nullable(verbatim(text)),
    // Only the XML, which is used if the JSON is broken, has it.
    task_type_id: dropped,
  }),

  legacyForm: {
    elements: `runs{run*{#run_id #task_id task_type_id/xml? #setup_id #flow_id #uploader upload_time error_message run_details}}`,
    isTemplate: true,
    page: MAX_ROWS,
    complete: taskTypes,
    losses: {
      "/runs/run/task_type_id": "The rows of the new interface lack it; it is read from the list of tasks.",
    },
  },
  // Callers see their own runs on tasks under embargo.
  groups: runGroups,
  examples: { ofTask: { task: 1, limit: 5 }, one: { run: 1 }, none: { task: 1_000_000 } },
  exampleAnswer: [
    {
      run_id: 1,
      task_id: 1,
      setup_id: 3,
      flow_id: 103,
      uploader: 1,
      upload_time: "2021-01-01T10:00:00",
      error_message: null,
      run_details: null,
    },
  ],
});
