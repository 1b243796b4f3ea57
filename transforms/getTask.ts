import {
  anyOrder,
  endpoint,
  entity,
  get,
  identifier,
  ifGiven,
  integer,
  jsonList,
  list,
  nullable,
  object,
  renamed,
  text,
  unwrapped,
} from "../src/catalogue/index.ts";
import { legacyError } from "./legacyErrors.ts";
import { emptyValues } from "./legacyLosses.ts";
import { lasting } from "./lifetimes.ts";

const named = { name: text };
const given = ifGiven(nullable(text));

/** The source data of a task; some types of tasks have further targets. */
const dataset = object({
  data_set_id: nullable(integer),
  labeled_data_set_id: ifGiven(nullable(integer)),
  target_feature: nullable(text),
  target_feature_left: given,
  target_feature_right: given,
  target_feature_event: given,
  target_value: given,
});

const estimationProcedure = object({
  id: nullable(integer),
  type: nullable(text),
  data_splits_url: nullable(text),
  parameter: list(object({ ...named, value: nullable(text) })),
});

/** Each input has one of these fields beside its name. */
const input = object({
  ...named,
  data_set: ifGiven(nullable(dataset)),
  estimation_procedure: ifGiven(nullable(estimationProcedure)),
  cost_matrix: ifGiven(jsonList),
  evaluation_measures: ifGiven(nullable(object({ evaluation_measure: list(text) }))),
  annotation_cost: ifGiven(jsonList),
  batch_size: given,
  number_samples: given,
  quality_measure: given,
  time_limit: given,
});

const predictions = object({ format: nullable(text), feature: list(object({ ...named, type: nullable(text) })) });

const output = object({ ...named, predictions: ifGiven(nullable(predictions)) });

export const getTask = endpoint("GET /tasks/{task_id}", {
  summary: "A task: what it gives, and what it wants back.",
  also: ["GET /task/{task_id}"],
  input: { task_id: identifier },
  legacy: ({ task_id }) => get`/task/${task_id}`,
  notFound: legacyError(151),
  echoes: { task_id: ["id"] },
  modern: { problems: { "task-not-found": legacyError(151) } },
  // PHP's notices for a task without inputs, in its versions 7 and 8.
  harmlessNotices: [
    /^Undefined (array key "estimation_procedure"|index: estimation_procedure)$/,
    /^Trying to access array offset on value of type bool$/,
    /^(foreach\(\) argument must be of type array\|object, null given|Invalid argument supplied for foreach\(\))$/,
  ],

  output: unwrapped(
    "task",
    object({
      id: renamed("task_id", integer),
      name: renamed("task_name", nullable(text)),
      task_type_id: integer,
      task_type: nullable(text),
      input: list(input),
      output: list(output),
      tags: renamed("tag", anyOrder(list(text))),
    }),
  ),

  legacyForm: {
    elements: `task{task_id task_name task_type_id task_type input*{@name data_set?{data_set_id labeled_data_set_id?
    target_feature? target_feature_left? target_feature_right? target_feature_event? target_value?}
    estimation_procedure?{id type data_splits_url? parameter*{@name =value}} cost_matrix?
    evaluation_measures?{evaluation_measure+} annotation_cost? batch_size? number_samples? quality_measure? time_limit?}
    output*{@name predictions?{format feature*{@name @type}}} tag*}`,
    losses: { "/task/input/data_set/target_feature": emptyValues },
  },
  cache: { ...lasting, groups: ({ task_id }, ours) => entity("task", task_id, ours !== undefined) },
  examples: { one: { task_id: 1 }, unknown: { task_id: 1_000_000 } },
  exampleAnswer: {
    id: 1,
    name: "Task 1: harbour_tides (Supervised Classification)",
    task_type_id: 1,
    task_type: "Supervised Classification",
    input: [
      { name: "source_data", data_set: { data_set_id: 1, target_feature: "rising" } },
      {
        name: "cost_matrix",
        cost_matrix: [
          [0, 1],
          [5, 0],
        ],
      },
      { name: "evaluation_measures", evaluation_measures: { evaluation_measure: ["predictive_accuracy"] } },
    ],
    output: [
      {
        name: "predictions",
        predictions: {
          format: "ARFF",
          feature: [
            { name: "fold", type: "integer" },
            { name: "prediction", type: "string" },
          ],
        },
      },
    ],
    tags: ["demo"],
  },
});
