import type { Handler } from "./call.ts";
import { sampleCatalogue } from "./catalogue.ts";
import type { EvaluationRow, RunRow } from "./catalogueRows.ts";
import { type FilterRules, pageOf, readFilters } from "./filters.ts";
import { fullName } from "./flows.ts";
import { element, type LegacyElement, optionalElement } from "./renderXml.ts";
import { fitsFilters, RUN_TIME, setupOf } from "./runs.ts";
import { parameterElements } from "./setups.ts";

const rules: FilterRules = {
  legal: [
    "task",
    "setup",
    "flow",
    "uploader",
    "run",
    "tag",
    "limit",
    "offset",
    "function",
    "per_fold",
    "sort_order",
    "study",
  ],
  digits: new Set(["task", "setup", "flow", "uploader", "run", "study", "limit", "offset"]),
  errors: { illegal: 544, unsafe: 541, offset: 545 },
};

/** A row of the list; `values` are those of the folds. */
type Listed = EvaluationRow & { run: RunRow; values?: string[] };

const evaluationsOf = (run: RunRow, perFold: boolean): Listed[] =>
  perFold
    ? Object.entries(run.folds ?? {}).map(([name, values]) => ({ run, function: name, values }))
    : (run.evaluations ?? []).map((one) => ({ run, ...one }));

/** What both forms have before and behind the names, in legacy's order. */
const parts = ({ run, value, array, values, ...one }: Listed, withSetups: boolean) => {
  const { setup, flow } = setupOf(run);
  const task = sampleCatalogue.tasks.find(({ id }) => id === run.task_id);
  const dataset = sampleCatalogue.datasets.find(({ id }) => id === task?.data_id);
  return {
    ids: { run_id: run.id, task_id: run.task_id, setup_id: run.setup_id, flow_id: flow?.id ?? 0 },
    flowName: flow ? fullName(flow) : "",
    parameters: withSetups && setup ? parameterElements(setup) : undefined,
    dataset,
    function: one.function,
    value,
    array,
    values: values && `[${values.join()}]`,
  };
};

const describe = (listed: Listed, withSetups: boolean): LegacyElement => {
  const { ids, flowName, parameters, dataset, ...result } = parts(listed, withSetups);
  const unescaped = (name: string, text: string): LegacyElement => ({ name, text, unescaped: true });
  return element("evaluation", [
    element("run_id", ids.run_id),
    element("uploader", listed.run.uploader),
    element("task_id", ids.task_id),
    element("setup_id", ids.setup_id),
    element("flow_id", ids.flow_id),
    // Legacy escapes no name.
    unescaped("flow_name", flowName),
    ...(parameters ? [element("parameters", parameters)] : []),
    ...(dataset ? [element("data_id", dataset.id), unescaped("data_name", dataset.name)] : []),
    element("evaluation_engine_id", 1),
    element("function", result.function),
    element("upload_time", RUN_TIME),
    ...optionalElement("value", result.value),
    ...optionalElement("array_data", result.array),
    ...optionalElement("values", result.values),
  ]);
};

/** The JSON has neither uploader, dataset, engine nor the values of the folds, and no list within a list. */
const written = (listed: Listed, withSetups: boolean): string => {
  const { ids, flowName, parameters, dataset, ...result } = parts(listed, withSetups);
  const parameter = ({ children = [] }: LegacyElement): string =>
    `{${children.map(({ name, text = "" }) => (name.endsWith("id") ? `"${name}": ${text}` : `"${name}": "${text}"`)).join()}}`;
  const array = result.array?.replaceAll("?", '"?"').replaceAll(/(?!^)[[\]](?!$)/g, "");
  return [
    `  {${Object.entries(ids)
      .map(([name, value]) => `"${name}":${value}`)
      .join()}`,
    `"flow_name":"${flowName}"`,
    ...(parameters ? [`"parameters": [${parameters.map(parameter).join()}]`] : []),
    `"data_name":"${dataset?.name ?? ""}"`,
    `"function":"${result.function}"`,
    `"upload_time":"${RUN_TIME}"`,
    ...(result.value === undefined ? [] : [`"value":${result.value}`]),
    ...(array === undefined ? [] : [`"array_data":${array}`]),
  ].join(",\n   ");
};

/** `evaluation/list/{filter}/{value}/…`, and `evaluation/setup/list/…` with the parameters of the setups. */
export const evaluationList =
  (withSetups: boolean): Handler =>
  (call) => {
    const asked = readFilters(call.segments.slice(withSetups ? 2 : 1), rules);
    if ("error" in asked) return asked;
    const { function: measure, per_fold: perFold, sort_order: order, limit, offset, ...others } = asked.filters;
    if (perFold !== undefined && perFold !== "true" && perFold !== "false") return { error: 547 };
    if (Number(limit) > 10_000) return { error: 546 };
    if (order !== undefined && order !== "asc" && order !== "desc") return { error: 549 };
    if (Object.keys(others).length === 0 && measure === undefined && limit === undefined) return { error: 540 };
    const all = sampleCatalogue.runs
      .filter((run) => fitsFilters(run, others, call))
      .flatMap((run) => evaluationsOf(run, perFold === "true"))
      .filter((one) => measure === undefined || one.function === measure);
    const sign = order === "desc" ? -1 : 1;
    const sorted =
      order === undefined ? all : all.toSorted((a, b) => sign * (Number(a.value ?? 0) - Number(b.value ?? 0)));
    const rows = pageOf(sorted, { limit, offset });
    if (rows.length === 0) return { error: 542 };
    return {
      root: element(
        "evaluations",
        rows.map((row) => describe(row, withSetups)),
      ),
      json: `{"evaluations":{"evaluation":[\n  ${rows.map((row) => `${written(row, withSetups)}  }\n`).join("  ,")}  ]}\n}\n`,
    };
  };
