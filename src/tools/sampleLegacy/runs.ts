import type { Call, Handler } from "./call.ts";
import { sampleCatalogue } from "./catalogue.ts";
import type { EvaluationRow, FlowRow, RunRow, SetupRow } from "./catalogueRows.ts";
import { isSameText } from "./datasetList.ts";
import { type FilterRules, isAmong, type ListFilters, pageOf, readFilters } from "./filters.ts";
import { fullName } from "./flows.ts";
import { element, type LegacyElement, optionalElement } from "./renderXml.ts";
import { parametersOf } from "./setups.ts";

/** When every run of the sample was uploaded. */
export const RUN_TIME = "2021-01-01 10:00:00";

/** The setup and the flow of a run. */
export const setupOf = ({ setup_id }: RunRow): { setup: SetupRow | undefined; flow: FlowRow | undefined } => {
  const setup = sampleCatalogue.setups.find(({ id }) => id === setup_id);
  return { setup, flow: sampleCatalogue.flows.find(({ id }) => id === setup?.flow_id) };
};

const downloads = "https://legacy.example/data/download";

const inputOf = (run: RunRow, { datasets }: Call): LegacyElement[] => {
  const task = sampleCatalogue.tasks.find(({ id }) => id === run.task_id);
  const dataset = datasets.find(({ id }) => id === task?.data_id);
  if (!dataset) return [];
  const fields = [
    element("did", dataset.id),
    // Legacy escapes neither.
    { name: "name", text: dataset.name, unescaped: true },
    { name: "url", text: `${downloads}/${dataset.file_id ?? 0}/${dataset.id}.arff`, unescaped: true },
  ];
  return [element("input_data", [element("dataset", fields)])];
};

const evaluated = ({ function: name, value, array }: EvaluationRow, attributes?: Record<string, string>) => ({
  ...element("evaluation", [
    element("name", name),
    ...optionalElement("value", value),
    ...optionalElement("array_data", array),
  ]),
  ...(attributes ? { attributes } : {}),
});

const outputOf = ({ files = [], evaluations = [], folds = {} }: RunRow): LegacyElement[] => {
  const perFold = Object.entries(folds).flatMap(([name, values]) =>
    values.map((value, fold) => evaluated({ function: name, value }, { repeat: "0", fold: `${fold}` })),
  );
  const written = files.map(([id, name]) =>
    element("file", [
      element("did", -1),
      element("file_id", id),
      element("name", name),
      element("url", `${downloads}/${id}/${name}.arff`),
    ]),
  );
  const all = [...written, ...evaluations.map((one) => evaluated(one)), ...perFold];
  return all.length === 0 ? [] : [element("output_data", all)];
};

const findRun = (segment: string | undefined): RunRow | undefined =>
  sampleCatalogue.runs.find(({ id }) => id === Number(segment));

/** `run/{id}` */
export const runById: Handler = (call) => {
  const [segment] = call.segments;
  if (segment === "0") return { error: 235 };
  const run = findRun(segment);
  if (!run) return { error: 236 };
  const { setup, flow } = setupOf(run);
  const task = sampleCatalogue.tasks.find(({ id }) => id === run.task_id);
  const type = sampleCatalogue.taskTypes.find(({ id }) => id === task?.type);
  // Legacy escapes its own errors, not those of the run.
  const unescaped = (name: "error_message" | "run_details"): LegacyElement[] =>
    optionalElement(name, run[name]).map((it) => ({ ...it, unescaped: true }));
  const root = element("run", [
    element("run_id", run.id),
    element("uploader", run.uploader),
    element("uploader_name", `User ${run.uploader}`),
    element("task_id", run.task_id),
    element("task_type", type?.name ?? ""),
    ...optionalElement("task_evaluation_measure", task?.measures),
    element("flow_id", flow?.id ?? ""),
    element("flow_name", flow ? fullName(flow) : ""),
    element("setup_id", run.setup_id),
    ...(run.error === undefined ? [] : [element("error", run.error)]),
    ...unescaped("error_message"),
    ...unescaped("run_details"),
    element("setup_string", `setup ${run.setup_id}`),
    ...(setup ? parametersOf(setup) : []).map((it) =>
      element("parameter_setting", [
        element("name", it.name),
        element("value", it.value),
        element("component", it.flow.id),
      ]),
    ),
    ...(call.tags.run.get(run.id) ?? []).map(([tag]) => element("tag", tag)),
    ...inputOf(run, call),
    ...outputOf(run),
  ]);
  return { root };
};

/** `run/trace/{id}` */
export const runTrace: Handler = ({ segments: [, segment] }) => {
  const run = findRun(segment);
  if (!run) return { error: 571 };
  if (!run.trace) return { error: 572 };
  const steps = run.trace.map(([repeat, fold, iteration, setup, evaluation, selected]) =>
    element("trace_iteration", [
      element("repeat", repeat),
      element("fold", fold),
      element("iteration", iteration),
      element("setup_string", setup),
      element("evaluation", evaluation),
      element("selected", `${selected}`),
    ]),
  );
  return { root: element("trace", [element("run_id", run.id), ...steps]) };
};

const rules: FilterRules = {
  legal: ["task", "setup", "flow", "uploader", "run", "tag", "limit", "offset", "task_type", "study", "show_errors"],
  digits: new Set(["task", "setup", "flow", "uploader", "run", "task_type", "study", "limit", "offset"]),
  errors: { illegal: 514, unsafe: 511, offset: 515 },
};

/** Whether a run fits the filters that lists of runs and of evaluations share. */
export const fitsFilters = (run: RunRow, filters: ListFilters, { tags, studies }: Call): boolean => {
  const { task, setup, flow, uploader, run: ids, tag, study } = filters;
  return (
    isAmong(task, run.task_id) &&
    isAmong(setup, run.setup_id) &&
    isAmong(flow, setupOf(run).flow?.id ?? 0) &&
    isAmong(uploader, run.uploader) &&
    isAmong(ids, run.id) &&
    (tag === undefined || (tags.run.get(run.id) ?? []).some(([known]) => isSameText(known, tag))) &&
    (study === undefined || studies.some(({ id, runs }) => id === Number(study) && runs?.includes(run.id)))
  );
};

const typeOf = (run: RunRow): number => sampleCatalogue.tasks.find(({ id }) => id === run.task_id)?.type ?? 0;

// Unescaped in both forms, as in legacy. Its JSON has no type of the task.
const described = (run: RunRow): [name: string, value: string | number][] => [
  ["run_id", run.id],
  ["task_id", run.task_id],
  ["task_type_id", typeOf(run)],
  ["setup_id", run.setup_id],
  ["flow_id", setupOf(run).flow?.id ?? 0],
  ["uploader", run.uploader],
  ["upload_time", RUN_TIME],
  ["error_message", run.error_message ?? ""],
  ["run_details", run.run_details ?? ""],
];

/** `run/list/{filter}/{value}/…`, by id. */
export const runList: Handler = (call) => {
  const asked = readFilters(call.segments.slice(1), rules);
  if ("error" in asked) return asked;
  const { filters } = asked;
  if (Object.keys(filters).every((name) => name === "offset" || name === "show_errors")) return { error: 510 };
  if (Number(filters["limit"]) > 10_000) return { error: 516 };
  const matching = sampleCatalogue.runs.filter(
    (run) =>
      fitsFilters(run, filters, call) &&
      isAmong(filters["task_type"], typeOf(run)) &&
      (run.error === undefined || filters["show_errors"] === "true"),
  );
  const rows = pageOf(matching, filters).map(described);
  if (rows.length === 0) return { error: 512 };
  const written = rows.map((row) => {
    const fields = row
      .filter(([name]) => name !== "task_type_id")
      .map(([name, value]) => `"${name}":${typeof value === "number" ? value : `"${value}"`}`);
    return `  {${fields.join(",\n   ")}\n  }\n  `;
  });
  return {
    root: element(
      "runs",
      rows.map((row) =>
        element(
          "run",
          row.map(([name, value]) => ({ name, text: `${value}`, unescaped: true })),
        ),
      ),
    ),
    json: `{"runs":{"run":[\n  ${written.join(",")}  ]}\n}\n`,
  };
};
