import type { Call, Handler } from "./call.ts";
import { sampleCatalogue } from "./catalogue.ts";
import type { DatasetRow, TaskRow } from "./catalogueRows.ts";
import { datasetTests, isSameText } from "./datasetList.ts";
import { basicQualities } from "./datasetReads.ts";
import { type FilterRules, firstNumber, type ListFilters, pageOf, readFilters } from "./filters.ts";
import { element, type LegacyElement } from "./renderXml.ts";

const splits = "https://legacy.example/api_splits/get";

const typeName = ({ type }: TaskRow): string => sampleCatalogue.taskTypes.find(({ id }) => id === type)?.name ?? "";

const input = (name: string, children: LegacyElement[]): LegacyElement => ({
  name: "input",
  attributes: { name },
  children,
});

const procedureOf = ({ id, procedure }: TaskRow): LegacyElement[] => {
  const row = sampleCatalogue.estimationProcedures.find((one) => one.id === procedure);
  if (!row) return [];
  const { repeats = "", folds = "", percentage = "", stratified_sampling = "" } = row;
  const parameters = { number_repeats: repeats, number_folds: folds, percentage, stratified_sampling };
  return [
    input("estimation_procedure", [
      element("estimation_procedure", [
        element("id", row.id),
        element("type", row.type),
        element("data_splits_url", `${splits}/${id}/Task_${id}_splits.arff`),
        ...Object.entries(parameters).map(([name, value]) => ({
          name: "parameter",
          attributes: { name },
          text: `${value}`,
        })),
      ]),
    ]),
  ];
};

const predictionsOf = ({ predictions }: TaskRow): LegacyElement[] =>
  predictions === undefined
    ? []
    : [
        {
          name: "output",
          attributes: { name: "predictions" },
          children: [
            element("predictions", [
              element("format", "ARFF"),
              ...predictions.map(([name, type]) => ({ name: "feature", attributes: { name, type } })),
            ]),
          ],
        },
      ];

/** `task/{id}` */
export const taskById: Handler = ({ segments: [segment], datasets, tags }) => {
  const row = sampleCatalogue.tasks.find(({ id }) => id === Number(segment));
  if (!row) return { error: 151 };
  const dataset = datasets.find(({ id }) => id === row.data_id);
  const root = element("task", [
    element("task_id", row.id),
    element("task_name", `Task ${row.id}: ${dataset?.name ?? ""} (${typeName(row)})`),
    element("task_type_id", row.type),
    element("task_type", typeName(row)),
    input("source_data", [
      element("data_set", [
        element("data_set_id", row.data_id),
        element("target_feature", row.target ?? ""),
        ...Object.entries(row.source ?? {}).map(([name, value]) => element(name, value)),
      ]),
    ]),
    ...procedureOf(row),
    ...(row.inputs ?? []).map(([name, inner, value]) => input(name, [element(inner, value)])),
    ...(row.procedure === undefined
      ? []
      : [
          input("evaluation_measures", [
            element("evaluation_measures", [element("evaluation_measure", row.measures ?? "")]),
          ]),
        ]),
    ...predictionsOf(row),
    ...(tags.task.get(row.id) ?? []).map(([tag]) => element("tag", tag)),
  ]);
  return { root };
};

const rules: FilterRules = {
  legal: [
    "type",
    "tag",
    "data_tag",
    "status",
    "limit",
    "offset",
    "task_id",
    "data_id",
    "data_name",
    "number_instances",
    "number_features",
    "number_classes",
    "number_missing_values",
  ],
  digits: new Set(["type", "limit", "offset", "task_id", "data_id"]),
  errors: { illegal: 480, unsafe: 481, offset: 483 },
};

type Listed = { row: TaskRow; dataset: DatasetRow };

const matches = ({ row, dataset }: Listed, filters: ListFilters, { tags }: Call): boolean => {
  const { type, tag, task_id, data_tag, limit: _, offset: __, ...ofDataset } = filters;
  return (
    (type === undefined || firstNumber(type) === row.type) &&
    (task_id === undefined || task_id.split(",").some((id) => Number(id) === row.id)) &&
    (tag === undefined || (tags.task.get(row.id) ?? []).some(([known]) => isSameText(known, tag))) &&
    (data_tag === undefined || (datasetTests["tag"]?.(dataset, data_tag) ?? true)) &&
    Object.entries({ status: "active", ...ofDataset }).every(
      ([name, value]) => datasetTests[name]?.(dataset, value ?? "") ?? true,
    )
  );
};

/** The inputs that a list shows, by name. */
const listedInputs = ({ data_id, target, procedure, measures, inputs = [] }: TaskRow): [string, string][] =>
  Object.entries({
    ...Object.fromEntries(inputs.map(([name, , value]) => [name, value])),
    estimation_procedure: `${procedure ?? ""}`,
    evaluation_measures: measures ?? "",
    source_data: `${data_id}`,
    target_feature: target ?? "",
  })
    .filter(([, value]) => value !== "")
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

const qualitiesOf = ({ dataset }: Listed): [string, string][] =>
  basicQualities(dataset).flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, value]]));

const describe = (listed: Listed): LegacyElement => {
  const { row, dataset } = listed;
  return element("task", [
    element("task_id", row.id),
    element("task_type_id", row.type),
    element("task_type", typeName(row)),
    element("did", dataset.id),
    // Legacy escapes it in neither form.
    { name: "name", text: dataset.name, unescaped: true },
    element("status", dataset.status),
    element("format", dataset.format),
    ...listedInputs(row).map(([name, text]) => ({ name: "input", attributes: { name }, text })),
    ...qualitiesOf(listed).map(([name, text]) => ({ name: "quality", attributes: { name }, text })),
  ]);
};

const pairs = (group: string, entries: [string, string][]): string =>
  entries.length === 0
    ? ""
    : `        ,"${group}": [\n${entries.map(([name, value]) => `    {"name":"${name}", "value":"${value}"}\n`).join(",")}    ]\n`;

// Unescaped, as in legacy.
const written = (listed: Listed): string => {
  const { row, dataset } = listed;
  return `  { "task_id":${row.id},
    "task_type_id":${row.type},
    "task_type":"${typeName(row)}",
    "did":${dataset.id},
    "name":"${dataset.name}",
    "status":"${dataset.status}",
    "format":"${dataset.format}"
${pairs("input", listedInputs(row))}${pairs("quality", qualitiesOf(listed))}  }\n`;
};

/** `task/list/{filter}/{value}/…`, by id. */
export const taskList: Handler = (call) => {
  const asked = readFilters(call.segments.slice(1), rules);
  if ("error" in asked) return asked;
  const all = sampleCatalogue.tasks.flatMap((row): Listed[] => {
    const dataset = call.datasets.find(({ id }) => id === row.data_id);
    const isVisible = dataset?.visibility === "public" || (dataset && dataset.uploader === call.caller?.id);
    return dataset && isVisible ? [{ row, dataset }] : [];
  });
  const rows = pageOf(
    all.filter((one) => matches(one, asked.filters, call)),
    asked.filters,
  );
  if (rows.length === 0) return { error: 482 };
  return {
    root: element("tasks", rows.map(describe)),
    json: `{"tasks":{"task":[\n${rows.map(written).join(",")}  ]}\n}\n`,
  };
};
