import type { Call, Handler, HandlerResult } from "./call.ts";
import { allQualities, basicQualities } from "./catalogue.ts";
import type { DatasetRow, FlowRow, RunRow, StudyRow, User } from "./catalogueRows.ts";
import { textsOf } from "./tags.ts";
import { cleanInput, firstCsvLine, htmlEntities, isNumeric, isSameText, phpNotice } from "./textQuirks.ts";
import { escapeXml, ScriptDied, type Tree } from "./tree.ts";

/** A document found by the number in its path. `errors`: for the id 0, where it has one of its own, and for an unknown id. */
type Document<Row> = {
  rows: (call: Call) => Row[];
  errors: { zero?: number; unknown: number };
  /** The error of a row that is there. */
  refuse?: (row: Row, call: Call) => number | undefined;
  answer: (row: Row, call: Call, segment: string) => Exclude<HandlerResult, { error: number }>;
};

const document =
  <Row extends { id: number }>({ rows, errors, refuse, answer }: Document<Row>): Handler =>
  (call) => {
    const segment = call.segments.find(isNumeric) ?? "";
    if (segment === "0" && errors.zero !== undefined) return { error: errors.zero };
    const row = rows(call).find(({ id }) => id === Number(segment));
    if (!row) return { error: errors.unknown };
    const error = refuse?.(row, call);
    return error === undefined ? answer(row, call, segment) : { error };
  };

/** Whether this caller has the rights of the dataset's owner. */
export const isOwn = (caller: User | undefined, { uploader }: DatasetRow): boolean =>
  caller !== undefined && (caller.id === uploader || caller.role === "administrator");

/** Whether this caller may see the row. The list is stricter: it hides private rows from administrators, too. */
const mayRead = (caller: User | undefined, row: DatasetRow): boolean =>
  row.visibility === "public" || isOwn(caller, row);

const names = (csv: string | undefined): string[] => (csv ? firstCsvLine(csv) : []);

/** Legacy builds the file's name from the path segment as it came, leading zeros and all. */
const parquetUrl = ({ id, format }: DatasetRow, segment: string): string | undefined => {
  if (format === "Sparse_ARFF") return undefined;
  const [folder, name] = [Math.floor(id / 10_000), id].map((it) => `${it}`.padStart(4, "0"));
  return `https://files.example/datasets/${folder}/${name}/dataset_${segment}.pq`;
};

const datasetTree = (row: DatasetRow, segment: string): Tree => ({
  id: row.id,
  name: row.name,
  version: row.version,
  description: row.description ?? "",
  description_version: row.description_version ?? "",
  format: row.format,
  creator: names(row.creator),
  contributor: names(row.contributor),
  collection_date: row.collection_date || null,
  upload_date: row.upload_date,
  language: row.language || null,
  licence: row.licence || null,
  url: `https://legacy.example/data/v1/download/${row.file_id}/${escapeXml(row.name)}.${row.format.toLowerCase()}`,
  parquet_url: parquetUrl(row, segment),
  file_id: row.file_id,
  default_target_attribute: row.default_target_attribute || null,
  row_id_attribute: row.row_id_attribute || null,
  ignore_attribute: names(row.ignore_attribute),
  version_label: row.version_label || null,
  citation: row.citation || null,
  tag: textsOf(row.tags),
  visibility: row.visibility,
  original_data_url: row.original_data_url || null,
  paper_url: row.paper_url || null,
  status: row.status,
  processing_date: row.processing_date || null,
  error: row.error || null,
  warning: row.warning || null,
  md5_checksum: row.md5_checksum,
});

const noDescription = ["version", "description"]
  .map((property, i) => phpNotice(`Trying to get property '${property}' of non-object`, "v1/Api_data.php", 823 + i))
  .join("");

/** All qualities of a dataset, also those without a value. */
const qualitiesOf = (row: DatasetRow): [name: string, value: string | null][] => [
  ...basicQualities(row),
  ...Object.entries(row.otherQualities ?? {}),
];

const roles = ["target", "ignore", "row_identifier"] as const;

// Legacy encodes a flow's texts for HTML: `é` becomes a name that XML does not know, and the JSON form dies.
const flowTree = (flow: FlowRow, flows: FlowRow[]): Tree => ({
  id: flow.id,
  uploader: flow.uploader,
  "!name": htmlEntities(flow.name),
  class_name: flow.class_name,
  version: flow.version,
  "!external_version": htmlEntities(flow.external_version),
  "!description": htmlEntities(flow.description),
  upload_date: "2020-09-09T09:09:09",
  licence: "MIT",
  language: "English",
  dependencies: "sample_2.0",
  parameter: flow.parameters,
  component: flow.components?.map((part) => ({
    identifier: part.identifier,
    flow: flows.filter(({ id }) => id === part.flow).map((it) => flowTree(it, flows)),
  })),
  tag: textsOf(flow.tags),
});

const outputOf = ({ files = [], evaluations = [], folds = {} }: RunRow): Tree | undefined => {
  const perFold = Object.entries(folds).flatMap(([name, values]) =>
    values.map((value, fold) => ({ "@repeat": "0", "@fold": fold, name, value })),
  );
  const evaluation = [...evaluations, ...perFold];
  return files.length + evaluation.length === 0 ? undefined : { file: files, evaluation };
};

const runTree = (run: RunRow, { setups, datasets, tasks }: Call): Tree => {
  const setup = setups.find(({ id }) => id === run.setup_id);
  const task = tasks.find(({ id }) => id === run.task_id);
  const dataset = datasets.find(({ id }) => id === task?.data_id);
  return {
    run_id: run.id,
    uploader: run.uploader,
    uploader_name: `User ${run.uploader}`,
    task_id: run.task_id,
    task_type: run.task_type,
    task_evaluation_measure: run.task_evaluation_measure,
    flow_id: run.flow_id,
    flow_name: run.flow_name,
    setup_id: run.setup_id,
    // Legacy escapes its own errors, not those of the run.
    error: run.error,
    "!error_message": run.error_message,
    "!run_details": run.run_details,
    setup_string: `setup ${run.setup_id}`,
    parameter_setting: setup?.parameters.map(({ name, value, flow_id }) => ({ name, value, component: flow_id })),
    tag: textsOf(run.tags),
    input_data: dataset && {
      dataset: {
        did: dataset.id,
        // Legacy escapes neither.
        "!name": dataset.name,
        "!url": `https://legacy.example/data/download/${dataset.file_id ?? 0}/${dataset.id}.arff`,
      },
    },
    output_data: outputOf(run),
  };
};

/** The documents with an id, by path. */
export const documents = {
  "data/#": document({
    rows: ({ datasets }) => datasets,
    errors: { zero: 110, unknown: 111 },
    refuse(row, { caller, segments: [segment = ""] }) {
      if (!/^\d+$/.test(segment)) throw new ScriptDied();
      return !mayRead(caller, row) ? 112 : row.file_id === null ? 113 : undefined;
    },
    answer: (row, { faults }, segment) => ({
      tree: { data_set_description: datasetTree(row, segment) },
      notices: faults.phpNotices && row.description === null ? noDescription : "",
    }),
  }),
  "data/features/#": document({
    rows: ({ datasets }) => datasets,
    errors: { unknown: 271 },
    refuse(row, { caller }) {
      if (!mayRead(caller, row)) return 275;
      return row.features ? undefined : row.processing_date === null ? 273 : row.error ? 274 : 272;
    },
    answer: ({ features = [] }) => ({
      tree: {
        data_features: {
          feature: features.map(({ name, type, values, ontology, role, missing = 0 }, index) => ({
            index,
            name,
            data_type: type,
            ontology,
            nominal_value: values,
            ...Object.fromEntries(roles.map((it) => [`is_${it}`, it === role])),
            number_of_missing_values: missing,
          })),
        },
      },
    }),
  }),
  "data/qualities/#": document({
    rows: ({ datasets, caller }) => datasets.filter((row) => mayRead(caller, row)),
    errors: { zero: 360, unknown: 361 },
    refuse(row, { segments: [, , engine = "1"] }) {
      if (row.processing_date === null || Number(engine) !== 1) return 363;
      return qualitiesOf(row).length > 0 ? undefined : row.error ? 364 : 362;
    },
    answer: (row) => ({
      tree: {
        data_qualities: {
          quality: qualitiesOf(row)
            .toSorted(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
            .map(([name, value]) => ({ name, value: value ?? "" })),
        },
      },
    }),
  }),
  "setup/#": document({
    rows: ({ setups }) => setups,
    errors: { zero: 280, unknown: 281 },
    answer: ({ id, flow_id, parameters }) => ({
      tree: { setup_parameters: { setup_id: id, flow_id, parameter: parameters } },
    }),
  }),
  "flow/#": document({
    rows: ({ flows }) => flows,
    errors: { zero: 180, unknown: 181 },
    answer: (row, { flows }) => ({ tree: { flow: flowTree(row, flows) }, layout: { indent: "" } }),
  }),
  "task/#": document({
    rows: ({ tasks }) => tasks,
    errors: { unknown: 151 },
    answer: ({ id, type, task_type, data_id, inputs, outputs, tags }, { datasets }) => ({
      tree: {
        task: {
          task_id: id,
          task_name: `Task ${id}: ${datasets.find((row) => row.id === data_id)?.name ?? ""} (${task_type})`,
          task_type_id: type,
          task_type,
          input: inputs,
          output: outputs,
          tag: textsOf(tags),
        },
      },
    }),
  }),
  "run/#": document({
    rows: ({ runs }) => runs,
    errors: { zero: 235, unknown: 236 },
    answer: (run, call) => ({ tree: { run: runTree(run, call) } }),
  }),
  "run/trace/#": document({
    rows: ({ runs }) => runs,
    errors: { unknown: 571 },
    refuse: ({ trace }) => (trace ? undefined : 572),
    answer: ({ id, trace }) => ({ tree: { trace: { run_id: id, trace_iteration: trace } } }),
  }),
  "tasktype/#": document({
    rows: ({ taskTypes }) => taskTypes,
    errors: { zero: 240, unknown: 241 },
    answer: ({ inputs, ...row }) => ({
      tree: {
        task_type: {
          id: row.id,
          name: row.name,
          description: row.description,
          creator: names(row.creator),
          contributor: names(row.contributor),
          creation_date: row.creation_date,
          input: inputs,
        },
      },
    }),
  }),
  "estimationprocedure/#": document({
    rows: ({ estimationProcedures }) => estimationProcedures,
    errors: { zero: 730, unknown: 731 },
    answer: (row) => ({ tree: { estimationprocedure: row } }),
  }),
} satisfies Record<string, Handler>;

/** The lists without filters, which are whole documents. */
export const wholeLists = {
  "data/qualities/list": () => ({ tree: { data_qualities_list: { quality: allQualities } } }),
  "estimationprocedure/list": ({ estimationProcedures }) => ({
    tree: { estimationprocedures: { estimationprocedure: estimationProcedures } },
  }),
  "evaluationmeasure/list": ({ evaluationMeasures }) => ({
    tree: { evaluation_measures: { measures: { measure: evaluationMeasures } } },
    layout: { indent: "\t" },
  }),
  // Its creators stay csv.
  "tasktype/list": ({ taskTypes }) => ({
    tree: {
      task_types: {
        task_type: taskTypes.map(({ id, name, description, creator }) => ({ id, name, description, creator })),
      },
    },
  }),
} satisfies Record<string, Handler>;

/** What a study may have, and the names of the ids. */
const groups = { data: "data_id", tasks: "task_id", flows: "flow_id", setups: "setup_id", runs: "run_id" } as const;

/** What the document of a study and the list have in common. */
export const studyHead = ({ id, alias, main_entity_type, benchmark_suite, name }: StudyRow): Tree => ({
  id,
  alias: alias || null,
  main_entity_type,
  benchmark_suite,
  // Legacy does not escape it.
  "!name": name,
});

/** `study/{id or alias}[/group]`: only a tag-based study uses the group, and omits empty groups. */
export const studyByKey: Handler = ({ segments: [key = "", only], caller, studies }) => {
  if (only !== undefined && !Object.hasOwn(groups, only)) return { error: 600, about: `Got: ${only}` };
  const row = studies.find(({ id, alias }) =>
    isNumeric(key) ? id === Number(key) : alias?.toLowerCase() === key.toLowerCase(),
  );
  if (!row) return { error: 601 };
  const { description, visibility, status, creator, legacy } = row;
  if (visibility !== "public" && caller?.id !== creator) return { error: 602 };
  if (legacy?.length === 0) return { error: 603 };
  const study: Tree = {
    ...studyHead(row),
    "!description": description,
    visibility,
    status,
    creation_date: "2021-02-03T04:05:06",
    creator,
    tag: legacy,
  };
  for (const [group, name] of Object.entries(groups) as [keyof typeof groups, string][])
    if (row[group] && !(legacy && only && only !== group)) study[group] = { [name]: row[group] };
  return { tree: { study }, layout: { newline: "\r\n" } };
};

const flowExists = ({ flows }: Call, name: string, version: string): HandlerResult => {
  const found = flows.find((flow) => isSameText(flow.name, name) && isSameText(flow.external_version, version));
  return { tree: { flow_exists: { exists: found !== undefined, id: found?.id ?? -1 } }, layout: { indent: "\t" } };
};

/** `flow/exists/{name}/{version}`: compares the segments undecoded. */
export const flowExistsByPath: Handler = (call) => flowExists(call, call.segments[1] ?? "", call.segments[2] ?? "");

/** `flow/exists` with `name` and `external_version` in a form. */
export const flowExistsByForm: Handler = (call) => {
  const name = cleanInput(call.form.get("name") ?? "");
  const version = cleanInput(call.form.get("external_version") ?? "");
  if (`${name}${version}`.includes('"')) throw new ScriptDied();
  return flowExists(call, name, version);
};

/** `evaluation/request/…`: checks for admin rights first, then refuses every filter. */
export const evaluationRequest: Handler = ({ caller }) =>
  caller?.role === "administrator"
    ? { error: 1011, about: "Legal filter operators: ttid,task,tag,uploader,setup. Found illegal filter: none" }
    : { error: 106 };
