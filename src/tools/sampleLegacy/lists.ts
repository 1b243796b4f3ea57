import type { Call, Handler } from "./call.ts";
import { basicQualities } from "./catalogue.ts";
import type { DatasetRow, FlowRow, RunRow, SetupRow, StudyRow, TaskRow } from "./catalogueRows.ts";
import { studyHead } from "./documents.ts";
import {
  among,
  firstOf,
  type ListFilter,
  type ListFilters,
  pageOf,
  paging,
  readFilters,
  status,
  withTag,
} from "./filters.ts";
import { isSameText, phpNotice } from "./textQuirks.ts";
import { textIn, type Tree } from "./tree.ts";

/** One of legacy's lists: `{path}/{filter}/{value}/…`. */
type List<Row> = {
  /** The names of its elements. */
  root: string;
  row: string;
  /** In the order in which an error names them. */
  filters: Record<string, ListFilter<Row>>;
  errors: Record<"illegal" | "unsafe" | "offset" | "none", number>;
  /** The error of filters that are legal each. */
  refuse?: (filters: ListFilters) => number | undefined;
  /** What this caller may be listed. */
  rows: (call: Call, filters: ListFilters) => Row[];
  ordered?: (rows: Row[], filters: ListFilters, call: Call) => Row[];
  listed: (row: Row, call: Call) => Tree;
  /** Legacy's hand-written template of a row, with its blanks. It escapes nothing: a name with quotes breaks the JSON. */
  json?: { before?: string; between?: string; row: (row: Row, call: Call) => string };
};

const list =
  <Row>({ root, row, filters: legal, errors, refuse, rows, ordered, listed, json }: List<Row>, path = 1): Handler =>
  (call) => {
    const asked = readFilters(call.segments.slice(path), legal, errors);
    if ("error" in asked) return asked;
    const { filters } = asked;
    const error = refuse?.(filters);
    if (error !== undefined) return { error };
    const wanted = Object.entries({ ...(legal["status"] && { status: "active" }), ...filters });
    const matching = rows(call, filters).filter((it) =>
      wanted.every(([name, value]) => legal[name]?.fits?.(it, value, call) ?? true),
    );
    const page = pageOf(ordered?.(matching, filters, call) ?? matching, filters);
    if (page.length === 0) return { error: errors.none };
    return {
      tree: { [root]: { [row]: page.map((it) => listed(it, call)) } },
      json:
        json &&
        `{"${root}":{"${row}":[\n${json.before ?? ""}${page.map((it) => json.row(it, call)).join(json.between ?? ",")}  ]}\n}\n`,
    };
  };

const isVisible = ({ visibility, uploader }: DatasetRow, { caller }: Call): boolean =>
  visibility === "public" || uploader === caller?.id;

/** `a` or `a..b`; any other text matches no row. */
const within = (quality: string): ListFilter<DatasetRow> => ({
  fits(row, range) {
    const value = Number(basicQualities(row).find(([known]) => known === quality)?.[1] ?? "none");
    const [, low, high = low] = /^(\d+(?:\.0*)?)(?:\.\.(\d+))?$/.exec(range) ?? [];
    return low !== undefined && value >= Number(low) && value <= Number(high);
  },
});

const byData = {
  data_id: among<DatasetRow>(({ id }) => id),
  data_name: { fits: ({ name }: DatasetRow, wanted: string) => isSameText(wanted, name) },
};
const byQualities = {
  number_instances: within("NumberOfInstances"),
  number_features: within("NumberOfFeatures"),
  number_classes: within("NumberOfClasses"),
  number_missing_values: within("NumberOfMissingValues"),
};

const qualitiesOf = (row: DatasetRow): [string, string][] =>
  basicQualities(row).flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, value]]));

const named = ([name, value]: [string, string]): Tree => ({ "@name": name, "#": value });

const datasets = list<DatasetRow>({
  root: "data",
  row: "dataset",
  filters: {
    tag: withTag(({ tags }) => tags),
    status,
    ...paging,
    ...byData,
    data_version: firstOf(({ version }) => version),
    uploader: firstOf(({ uploader }) => uploader),
    ...byQualities,
  },
  errors: { illegal: 370, unsafe: 371, none: 372, offset: 373 },
  rows: (call) => call.datasets.filter((row) => isVisible(row, call)),
  ordered(rows, _, { faults: { listsInNoOrder: random } }) {
    const places = new Map(rows.map((row) => [row, random?.() ?? row.id]));
    return rows.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
  },
  listed: (row) => ({
    did: row.id,
    // Legacy escapes it in neither form.
    "!name": row.name,
    version: row.version,
    uploader: row.uploader,
    status: row.status,
    format: row.format,
    file_id: row.file_id,
    quality: qualitiesOf(row).map(named),
  }),
  json: {
    before: "  ",
    row(row, { faults }) {
      const notice = phpNotice("Undefined property: stdClass::$md5_checksum", "json/data.tpl.php", 11);
      return `  {"did":${row.id},
   "name":"${row.name}",
   "version":${row.version},
   "status":"${row.status}",
   "format":"${row.format}",
   "md5_checksum":"${faults.phpNotices ? notice : ""}",
${row.file_id === null ? "" : `      "file_id": ${row.file_id},\n`}      "quality":[
    ${qualitiesOf(row)
      .map(([name, value]) => `    {"name":"${name}",\n     "value":"${value}"\n    }\n    `)
      .join()}    ]
      }
  `;
    },
  },
});

type ListedTask = DatasetRow & { task: TaskRow };

const pairs = (group: string, entries: [string, string][]): string =>
  entries.length === 0
    ? ""
    : `        ,"${group}": [\n${entries.map(([name, value]) => `    {"name":"${name}", "value":"${value}"}\n`).join()}    ]\n`;

const tasks = list<ListedTask>({
  root: "tasks",
  row: "task",
  filters: {
    type: firstOf(({ task }) => task.type),
    tag: withTag(({ task }) => task.tags),
    data_tag: withTag(({ tags }) => tags),
    status,
    ...paging,
    task_id: among(({ task }) => task.id),
    ...byData,
    ...byQualities,
  },
  errors: { illegal: 480, unsafe: 481, none: 482, offset: 483 },
  rows: (call) =>
    call.tasks.flatMap((task) => {
      const dataset = call.datasets.find(({ id }) => id === task.data_id);
      return dataset && isVisible(dataset, call) ? [{ ...dataset, task }] : [];
    }),
  listed: ({ task, ...dataset }) => ({
    task_id: task.id,
    task_type_id: task.type,
    task_type: task.task_type,
    did: dataset.id,
    // Legacy escapes it in neither form.
    "!name": dataset.name,
    status: dataset.status,
    format: dataset.format,
    input: Object.entries(task.listed).map(named),
    quality: qualitiesOf(dataset).map(named),
  }),
  json: {
    row: ({ task, ...dataset }) => `  { "task_id":${task.id},
    "task_type_id":${task.type},
    "task_type":"${task.task_type}",
    "did":${dataset.id},
    "name":"${dataset.name}",
    "status":"${dataset.status}",
    "format":"${dataset.format}"
${pairs("input", Object.entries(task.listed))}${pairs("quality", qualitiesOf(dataset))}  }\n`,
  },
});

/** The parameters as lists have them. */
const withoutName = (parameters: Tree[]): Tree[] =>
  parameters.map((it) => Object.fromEntries(Object.entries(it).filter(([name]) => name !== "name")));

const setups = list<SetupRow>({
  root: "setups",
  row: "setup",
  filters: {
    flow: among(({ flow_id }) => flow_id),
    setup: among(({ id }) => id),
    ...paging,
    tag: withTag(({ tags }) => tags),
  },
  errors: { illegal: 671, unsafe: 672, none: 674, offset: 675 },
  refuse: (filters) => (Object.keys(filters).length === 0 ? 670 : Number(filters["limit"]) > 1000 ? 676 : undefined),
  rows: (call) => call.setups,
  listed: ({ id, flow_id, parameters, tags = [] }) => ({
    setup_id: id,
    flow_id,
    // Each parameter comes once for each tag: legacy joins the tags.
    parameter: withoutName(parameters).flatMap((it) => Array.from({ length: Math.max(1, tags.length) }, () => it)),
  }),
});

const studies = list<StudyRow>({
  root: "study_list",
  row: "study",
  filters: {
    ...paging,
    main_entity_type: { fits: (row, type) => isSameText(type, row.main_entity_type) },
    uploader: firstOf(({ creator }) => creator),
    status,
    benchmark_suite: firstOf(({ benchmark_suite }) => benchmark_suite),
  },
  errors: { illegal: 596, unsafe: 597, offset: 598, none: 599 },
  rows: ({ studies: all, caller }) =>
    all.filter(({ visibility, creator }) => visibility === "public" || creator === caller?.id),
  listed: (row) => ({
    ...studyHead(row),
    status: row.status,
    creation_date: "2021-02-03 04:05:06",
    creator: row.creator,
  }),
});

const flows = list<FlowRow>({
  root: "flows",
  row: "flow",
  filters: { uploader: firstOf(({ uploader }) => uploader), tag: withTag(({ tags }) => tags), ...paging },
  errors: { none: 500, illegal: 501, unsafe: 502, offset: 503 },
  rows: (call) => call.flows,
  listed: ({ id, name, version, external_version, uploader }) => ({
    id,
    "!full_name": `${name}(${version})`,
    "!name": name,
    version,
    "!external_version": external_version,
    uploader,
  }),
  json: {
    row: ({ id, name, version, external_version, uploader }) => `    {"id":${id},
   "full_name":"${name}(${version})",
   "name":"${name}",
   "version":${version},
   "external_version":"${external_version}",
   "uploader":${uploader}\t   }
  `,
  },
});

const byRun = {
  task: among<RunRow>(({ task_id }) => task_id),
  setup: among<RunRow>(({ setup_id }) => setup_id),
  flow: among<RunRow>(({ flow_id }) => flow_id),
  uploader: among<RunRow>(({ uploader }) => uploader),
  run: among<RunRow>(({ id }) => id),
  tag: withTag<RunRow>(({ tags }) => tags),
  ...paging,
};

const study: ListFilter<RunRow> = {
  digits: true,
  fits: (run, wanted, call) => call.studies.some(({ id, runs }) => id === Number(wanted) && runs?.includes(run.id)),
};

/** When every run of the sample was uploaded. */
const RUN_TIME = "2021-01-01 10:00:00";

const texts = (fields: Record<string, string | number>): string[] =>
  Object.entries(fields).map(([name, value]) => `"${name}":${typeof value === "number" ? value : `"${value}"`}`);

const runFields = (run: RunRow) => ({
  ids: { setup_id: run.setup_id, flow_id: run.flow_id, uploader: run.uploader, upload_time: RUN_TIME },
  texts: { error_message: run.error_message ?? "", run_details: run.run_details ?? "" },
});

const runs = list<RunRow>({
  root: "runs",
  row: "run",
  filters: { ...byRun, task_type: among(({ task_type_id }) => task_type_id), study, show_errors: {} },
  errors: { unsafe: 511, none: 512, illegal: 514, offset: 515 },
  refuse(filters) {
    if (Object.keys(filters).every((name) => name === "offset" || name === "show_errors")) return 510;
    return Number(filters["limit"]) > 10_000 ? 516 : undefined;
  },
  rows: (call, filters) => call.runs.filter(({ error }) => error === undefined || filters["show_errors"] === "true"),
  listed: (run) => ({
    run_id: run.id,
    task_id: run.task_id,
    task_type_id: run.task_type_id,
    ...runFields(run).ids,
    "!error_message": runFields(run).texts.error_message,
    "!run_details": runFields(run).texts.run_details,
  }),
  // It has no type of the task.
  json: {
    before: "  ",
    row(run) {
      const { ids, texts: unescaped } = runFields(run);
      return `  {${texts({ run_id: run.id, task_id: run.task_id, ...ids, ...unescaped }).join(",\n   ")}\n  }\n  `;
    },
  },
});

/** A row of the evaluations: a run with one of its results; `values` are those of the folds. */
type Evaluated = RunRow & { function: string; value?: string; array_data?: string; values?: string };

const evaluationsOf = (run: RunRow, perFold: boolean): Evaluated[] =>
  perFold
    ? Object.entries(run.folds ?? {}).map(([name, values]) => ({
        ...run,
        function: name,
        values: `[${values.join()}]`,
      }))
    : (run.evaluations ?? []).map(({ name, ...result }) => ({ ...run, function: name, ...result }));

const parametersOf = (run: RunRow, call: Call): Tree[] =>
  withoutName(call.setups.find(({ id }) => id === run.setup_id)?.parameters ?? []);

/** `withSetups`: with the parameters of the setups. */
const evaluations = (withSetups: boolean): Handler =>
  list<Evaluated>(
    {
      root: "evaluations",
      row: "evaluation",
      filters: {
        ...byRun,
        function: { fits: (row, wanted) => row.function === wanted },
        per_fold: {},
        sort_order: {},
        study,
      },
      errors: { unsafe: 541, none: 542, illegal: 544, offset: 545 },
      refuse({ per_fold: perFold, sort_order: order, ...others }) {
        if (perFold !== undefined && perFold !== "true" && perFold !== "false") return 547;
        if (Number(others["limit"]) > 10_000) return 546;
        if (order !== undefined && order !== "asc" && order !== "desc") return 549;
        return Object.keys(others).every((name) => name === "offset") ? 540 : undefined;
      },
      rows: (call, { per_fold }) => call.runs.flatMap((run) => evaluationsOf(run, per_fold === "true")),
      ordered(rows, { sort_order: order }) {
        const sign = order === "desc" ? -1 : 1;
        return order === undefined
          ? rows
          : rows.toSorted((a, b) => sign * (Number(a.value ?? 0) - Number(b.value ?? 0)));
      },
      listed: (row, call) => ({
        run_id: row.id,
        uploader: row.uploader,
        task_id: row.task_id,
        setup_id: row.setup_id,
        flow_id: row.flow_id,
        // Legacy escapes no name.
        "!flow_name": row.flow_name,
        ...(withSetups ? { parameters: { parameter: parametersOf(row, call) } } : {}),
        data_id: row.data_id,
        "!data_name": row.data_name,
        evaluation_engine_id: 1,
        function: row.function,
        upload_time: RUN_TIME,
        value: row.value,
        array_data: row.array_data,
        values: row.values,
      }),
      // It has neither uploader, dataset, engine nor the values of the folds, and no list within a list.
      json: {
        before: "  ",
        between: "  ,",
        row(row, call) {
          const parameter = (it: Tree): string =>
            `{${Object.entries(it)
              .map(([name, value]) => `"${name}": ${name.endsWith("id") ? textIn(value) : `"${textIn(value)}"`}`)
              .join()}}`;
          const array = row.array_data?.replaceAll("?", '"?"').replaceAll(/(?!^)[[\]](?!$)/g, "");
          return `${[
            `  {${texts({ run_id: row.id, task_id: row.task_id, setup_id: row.setup_id, flow_id: row.flow_id }).join()}`,
            `"flow_name":"${row.flow_name}"`,
            ...(withSetups ? [`"parameters": [${parametersOf(row, call).map(parameter).join()}]`] : []),
            ...texts({ data_name: row.data_name, function: row.function, upload_time: RUN_TIME }),
            ...(row.value === undefined ? [] : [`"value":${row.value}`]),
            ...(array === undefined ? [] : [`"array_data":${array}`]),
          ].join(",\n   ")}  }\n`;
        },
      },
    },
    withSetups ? 2 : 1,
  );

/** The lists with filters, by path. */
export const lists = {
  "data/list/*": datasets,
  "task/list/*": tasks,
  "setup/list/*": setups,
  "study/list/*": studies,
  "flow/list/*": flows,
  "run/list/*": runs,
  "evaluation/list/*": evaluations(false),
  "evaluation/setup/list/*": evaluations(true),
} satisfies Record<string, Handler>;
