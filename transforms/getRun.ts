import {
  anyOrder,
  around,
  dropped,
  endpoint,
  entity,
  entriesOf,
  get,
  identifier,
  integer,
  isUnset,
  list,
  markup,
  member,
  nullable,
  number,
  numberList,
  object,
  orEmpty,
  own,
  type Rule,
  text,
  unwrapped,
  verbatim,
} from "../src/catalogue/index.ts";
import { MAX_ARRAY_LEVELS } from "./evaluations.ts";
import { legacyError } from "./legacyErrors.ts";
import { noNumber } from "./legacyLosses.ts";
import { lasting } from "./lifetimes.ts";

/** A text that legacy escapes in neither format: if that breaks its JSON, the XML has the text as it was written. */
const unescaped = verbatim(markup);

const file = object({
  file_id: nullable(integer),
  name: nullable(text),
  // A file keeps the name that its uploader gave it.
  url: nullable(unescaped),
  // It is -1 for every file.
  did: dropped,
});

/** An evaluation; without a fold it is about the whole run. */
const evaluation = object({
  name: nullable(text),
  value: number,
  array_data: nullable(numberList(MAX_ARRAY_LEVELS)),
  repeat: nullable(integer),
  fold: nullable(integer),
});

/**
 * An unescaped text that is dropped. If it occurs twice, it has closed its element and forged others: it then fails the
 * schema.
 */
const unescapedAside: Rule<undefined> = {
  ...dropped,
  markup: true,
  verbatim: true,
  read: (legacy, note, parent) =>
    Array.isArray(legacy) && legacy.length > 1 ? legacy : dropped.read(legacy, note, parent),
};

/** Adds the entries of another field: legacy has the errors of the evaluation and of the run in two fields. */
const withMember = <T>(name: string, inner: Rule<T>): Rule<T> => ({
  name: "withMember",
  does: "the entries of two fields -> one list: `error` and `error_message` -> `error`",
  schema: inner.schema,
  ...around(inner, (other) => withMember(name, other)),
  read(legacy, note, parent) {
    const more = entriesOf(own(parent, name));
    if (more.length === 0) return inner.read(legacy, note, parent);
    const all = [...entriesOf(legacy), ...more];
    note.changed("withMember", legacy, all);
    return inner.read(all, note, parent);
  },
});

const bothErrors =
  "The new interface has the errors of the evaluation and of the run in one field, without empty ones.";

export const getRun = endpoint("GET /run/{run_id}", {
  summary: "A run: its task, flow and setup, its files and its evaluations.",
  also: ["GET /runs/{run_id}"],
  input: { run_id: identifier },
  legacy: ({ run_id }) => get`/run/${run_id}`,
  notFound: legacyError(236),
  echoes: { run_id: ["run_id"] },
  modern: { problems: { "run-not-found": legacyError(236) } },

  output: unwrapped(
    "run",
    object({
      run_id: integer,
      uploader: nullable(integer),
      uploader_name: nullable(unescaped),
      task_id: integer,
      task_type: nullable(text),
      task_evaluation_measure: nullable(text),
      flow_id: nullable(integer),
      flow_name: nullable(text),
      setup_id: nullable(integer),
      setup_string: nullable(text),
      parameter_setting: list(object({ name: nullable(text), value: nullable(text), component: nullable(integer) })),
      error: withMember("error_message", list(text)),
      tag: anyOrder(list(text)),
      input_data: orEmpty(
        object({ dataset: list(object({ did: nullable(integer), name: nullable(text), url: nullable(unescaped) })) }),
      ),
      output_data: orEmpty(object({ file: list(file), evaluation: list(evaluation) })),
      error_message: unescapedAside,
      run_details: unescapedAside,
    }),
  ),

  legacyForm: {
    elements: `run{run_id uploader uploader_name task_id task_type task_evaluation_measure? flow_id flow_name setup_id error*
    setup_string parameter_setting*{name value component} tag* input_data?{dataset*{did name url}}
    output_data?{file*{did="-1" file_id name url} evaluation*{@repeat @fold name value? array_data?}}}`,
    isNamedOnly: true,
    losses: {
      "/run/error": bothErrors,
      "/run/error_message": bothErrors,
      "/run/run_details": "The specification drops this field.",
      "/run/output_data/evaluation/value": noNumber,
      "/run/output_data/evaluation/array_data": noNumber,
    },
  },
  cache: {
    ...lasting,
    groups: ({ run_id }, ours) => entity("run", run_id, ours !== undefined),
    // The evaluation engine adds its results, or an error, some time after the upload.
    unfinishedUntil: (ours) =>
      isUnset(member(ours, "output_data", "evaluation")) && isUnset(member(ours, "error")) ? Infinity : undefined,
  },
  examples: { one: { run_id: 1 }, unknown: { run_id: 1_000_000 } },
  exampleAnswer: {
    run_id: 1,
    uploader: 1,
    uploader_name: "User 1",
    task_id: 1,
    task_type: "Supervised Classification",
    task_evaluation_measure: "predictive_accuracy",
    flow_id: 103,
    flow_name: "sample.Forest(2)",
    setup_id: 3,
    setup_string: "setup 3",
    parameter_setting: [{ name: "trees", value: "50", component: 103 }],
    error: [],
    tag: ["demo"],
    input_data: { dataset: [{ did: 1, name: "harbour_tides", url: "https://legacy.example/data/download/1/1.arff" }] },
    output_data: {
      file: [{ file_id: 301, name: "predictions", url: "https://legacy.example/data/download/301/predictions.arff" }],
      evaluation: [
        {
          name: "confusion_matrix",
          value: null,
          array_data: [
            [1, 2],
            [3, 4],
          ],
          repeat: null,
          fold: null,
        },
      ],
    },
  },
});
