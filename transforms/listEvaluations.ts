import { evaluationList, plainEvaluation } from "./evaluations.ts";

export const listEvaluations = evaluationList(
  "POST /evaluations/list",
  {
    summary: "The evaluations of the runs that match every filter. At least one filter is needed.",
    also: ["GET /evaluation/list/{...filters}"],
    list: ["evaluation", "list"],
  },
  plainEvaluation,
);
