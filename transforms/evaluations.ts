import {
  entriesOf,
  flag,
  integer,
  integerFrom,
  type JsonObject,
  type LegacyFormat,
  matching,
  member,
  nullable,
  number,
  numberList,
  object,
  oneOf,
  optionalField,
  type Route,
  type Rule,
  text,
  timestamp,
  unwrapped,
  verbatim,
  withDefault,
} from "../src/catalogue/index.ts";
import { idFilter, listBy, MAX_ROWS } from "./filters.ts";
import { legacyError } from "./legacyErrors.ts";
import { noNumber, repeats } from "./legacyLosses.ts";
import { limitTooHigh } from "./outcomes.ts";
import { pagedList } from "./pagedList.ts";
import { requireFilter, runFilters, runGroups } from "./runLists.ts";
import { exampleParameter, listedParameters } from "./setupParameters.ts";

/** The deepest nesting of lists in an evaluation's array; a matrix has two levels. */
export const MAX_ARRAY_LEVELS = 16;

const LIMIT = 100;

/** Legacy requires at least one of these filters. */
const narrowing = [...Object.keys(runFilters), "function", "study", "limit"];

/** The fields of both lists before (`run`) and after (`result`) the parameters. */
const run = {
  run_id: integer,
  uploader: nullable(integer),
  task_id: integer,
  setup_id: integer,
  flow_id: integer,
  flow_name: nullable(verbatim(text)),
};
const result = {
  data_id: nullable(integer),
  data_name: nullable(verbatim(text)),
  evaluation_engine_id: nullable(integer),
  function: nullable(text),
  upload_time: nullable(timestamp),
  value: number,
  values: numberList(1),
  array_data: nullable(numberList(MAX_ARRAY_LEVELS)),
};

const exampleEvaluation = {
  run_id: 1,
  uploader: 1,
  task_id: 1,
  setup_id: 3,
  flow_id: 103,
  flow_name: "sample.Forest(2)",
  data_id: 1,
  data_name: "harbour_tides",
  evaluation_engine_id: 1,
  function: "predictive_accuracy",
  upload_time: "2021-01-01T10:00:00",
  value: 0.95,
  values: [],
  array_data: null,
};

type Listing = { summary: string; also: Route[]; list: readonly string[]; exampleMembers?: JsonObject };

/** The parameters of a setup in legacy's form; only its XML wraps each of them. */
const parameters = `parameters/xml{parameter*{id flow_id flow_name full_name parameter_name data_type default_value value}}
  parameters/json*{#id #flow_id flow_name full_name parameter_name data_type default_value value}`;

const unwrapParameters = (legacy: JsonObject, format: LegacyFormat): JsonObject => {
  if (format === "xml") return legacy;
  const rows = entriesOf(member(legacy, "evaluations", "evaluation")) as JsonObject[];
  const evaluation = rows.map((row) => ({ ...row, parameters: member(row, "parameters", "parameter") ?? [] }));
  return { evaluations: { evaluation } };
};

/** Defines a list of evaluations over one of legacy's lists. */
const evaluationList = <T>(
  route: Route,
  { summary, also, list: legacyList, exampleMembers }: Listing,
  evaluation: Rule<T>,
) =>
  pagedList(route, {
    summary,
    also,
    input: {
      ...runFilters,
      function: optionalField(matching(/^[A-Za-z0-9_.-]{1,128}$/)),
      study: idFilter,
      per_fold: optionalField(flag),
      sort_order: optionalField(oneOf(["asc", "desc"])),
      // A limit counts as a filter, but only if the client gives it.
      limit: optionalField(integerFrom(1, MAX_ROWS)),
      offset: withDefault(integerFrom(0, Number.MAX_SAFE_INTEGER), 0),
    },
    format: "xml",
    legacy: ({ per_fold, limit = LIMIT, ...filters }) =>
      listBy(legacyList, { ...filters, per_fold: per_fold ? String(per_fold) : undefined, limit }),
    // Without a filter legacy may sort all evaluations. Its lists of runs need the same tables, except the results.
    shortestList: { method: "GET", path: "/run/list/limit/1" },
    notFound: legacyError(542),
    errors: { 546: limitTooHigh },
    rejectEarly: requireFilter(540, narrowing, route, legacyList),

    wrappers: ["evaluations", "evaluation"],
    row: evaluation,
    // Its JSON, which has fewer members and no matrix, is not read: the new interface is made of the XML.
    legacyForm: {
      elements: `evaluations{evaluation*{#run_id uploader/xml #task_id #setup_id #flow_id flow_name ${exampleMembers ? parameters : ""}
      data_id/xml? data_name? evaluation_engine_id/xml? function upload_time #value? values/xml? #array_data?}}`,
      isTemplate: true,
      page: MAX_ROWS,
      adapt: unwrapParameters,
      losses: {
        "/evaluations/evaluation/value": noNumber,
        "/evaluations/evaluation/array_data": noNumber,
        ...(exampleMembers && { "/evaluations/evaluation/parameters/parameter": repeats }),
      },
    },

    // Callers see evaluations of their own runs on tasks under embargo.
    groups: runGroups,
    examples: {
      ofFunction: { function: "predictive_accuracy", limit: 5 },
      perFold: { run: 1, per_fold: true },
      none: { task: 1_000_000 },
    },
    exampleAnswer: [{ ...exampleEvaluation, ...exampleMembers }],
  });

export const listEvaluations = evaluationList(
  "POST /evaluations/list",
  {
    summary:
      "The evaluations of the runs that match every filter. At least one filter is needed. With `per_fold` they come in no particular order.",
    also: ["GET /evaluations/list", "GET /evaluation/list/{...filters}"],
    list: ["evaluation", "list"],
  },
  object({ ...run, ...result }),
);

export const listEvaluationsWithSetups = evaluationList(
  "POST /evaluations/setup/list",
  {
    summary: "The same evaluations, with the parameters of each setup.",
    also: ["GET /evaluations/setup/list", "GET /evaluation/setup/list/{...filters}"],
    list: ["evaluation", "setup", "list"],
    exampleMembers: { parameters: [exampleParameter] },
  },
  object({ ...run, parameters: unwrapped("parameter", listedParameters), ...result }),
);
