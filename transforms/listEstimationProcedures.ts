import {
  boolean,
  collection,
  endpoint,
  get,
  integer,
  list,
  nullable,
  object,
  optional,
  renamed,
  text,
  unwrapped,
} from "../src/catalogue/index.ts";
import { fixed } from "./lifetimes.ts";

export const listEstimationProcedures = endpoint("GET /estimationprocedure/list", {
  summary: "The ways to estimate the quality of a model.",
  input: {},
  legacy: () => get`/estimationprocedure/list`,
  output: unwrapped(
    "estimationprocedures",
    unwrapped(
      "estimationprocedure",
      list(
        object({
          id: integer,
          task_type_id: renamed("ttid", integer),
          name: nullable(text),
          type: nullable(text),
          repeats: optional(integer),
          folds: optional(integer),
          percentage: optional(integer),
          stratified_sampling: optional(boolean),
        }),
      ),
    ),
  ),
  legacyForm: {
    elements: `estimationprocedures{estimationprocedure*{id ttid name type repeats? folds? percentage?
    stratified_sampling?}}`,
  },
  modern: { codes: [500] },
  cache: { ...fixed, groups: () => [collection("estimationprocedure")] },
  examples: { all: {} },
  exampleAnswer: [
    {
      id: 1,
      task_type_id: 1,
      name: "10-fold Crossvalidation",
      type: "crossvalidation",
      repeats: 1,
      folds: 10,
      stratified_sampling: true,
    },
  ],
});
