import { evaluationList, evaluationWithParameters } from "./evaluations.ts";
import { exampleParameter } from "./setupParameters.ts";

export const listEvaluationsWithSetups = evaluationList(
  "POST /evaluations/setup/list",
  {
    summary: "The same evaluations, with the parameters of each setup.",
    also: ["GET /evaluation/setup/list/{...filters}"],
    list: ["evaluation", "setup", "list"],
    exampleMembers: { parameters: [exampleParameter] },
  },
  evaluationWithParameters,
);
