import { collection, endpoint, get, list, text, unwrapped } from "../src/catalogue/index.ts";
import { fixed } from "./lifetimes.ts";

export const listEvaluationMeasures = endpoint("GET /evaluationmeasures/list", {
  summary: "The names of all measures a run can be evaluated by.",
  also: ["GET /evaluationmeasure/list"],
  input: {},
  legacy: () => get`/evaluationmeasure/list`,
  modern: { route: "GET /evaluationmeasure/list" },
  output: unwrapped("evaluation_measures", unwrapped("measures", unwrapped("measure", list(text)))),
  legacyForm: { elements: "evaluation_measures{measures{measure*}}" },
  cache: { ...fixed, groups: () => [collection("evaluationmeasure")] },
  examples: { all: {} },
  exampleAnswer: ["area_under_roc_curve", "kappa"],
});
