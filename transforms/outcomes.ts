import type { Outcome } from "../src/catalogue/index.ts";

// The codes and messages of legacy, for answers that the gateway gives without a request to legacy.
const notFound = (code: string, message: string): Outcome => ({ kind: "notFound", code, message });

export const unknownDataset = notFound("111", "Unknown dataset");
export const noDatasetWithFeatures = notFound("271", "Unknown dataset");
export const noDatasetWithQualities = notFound("361", "Unknown dataset");
export const noDatasetToUpdate = notFound("692", "Dataset does not exist");
export const unknownSetup = notFound("281", "Unknown setup");
export const unknownStudy = notFound("601", "Study does not exist.");
export const noStudyToAttachTo = notFound("1041", "Could not find study");
export const noStudyToUpdate = notFound("1052", "Could not find study");
export const noBenchmarkSuite = notFound("1036", "Referred benchmark suite not found");
export const unknownFlowId = notFound("181", "Unknown flow");
export const unknownTask = notFound("151", "Unknown task");
export const unknownTaskType = notFound("241", "Unknown task type");
export const unknownRun = notFound("236", "Run not found");
export const unknownTracedRun = notFound("571", "Run not found.");
export const unknownEntity = notFound("472", "Entity not found.");
export const noDatasets = notFound("372", "No results");
export const noFlows = notFound("500", "No results");
export const noTasks = notFound("482", "No results");
export const noRuns = notFound("512", "No results");
export const noEvaluations = notFound("542", "No results");
export const noSetups = notFound("674", "No results, please check the filter.");
export const noStudies = notFound("599", "No studies according to the specified criteria.");
/** If legacy has a lower limit than ours, the client gets the same answer as for our limit: an error at the field. */
export const limitTooHigh: Outcome = {
  kind: "refused",
  message: "Requested result limit too high.",
  errors: [{ loc: ["body", "limit"], msg: "Requested result limit too high.", type: "value_error.number.not_le" }],
};
export const unknownFlow: Outcome = { kind: "notFound", message: "Flow not found." };
export const privateStudy: Outcome = { kind: "noAccess", code: "112", message: "No access granted" };
export const legacyStudy: Outcome = { kind: "gone", message: "Legacy studies are no longer supported." };
