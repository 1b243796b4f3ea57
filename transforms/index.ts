import { createStudy } from "./createStudy.ts";
import { listEvaluations, listEvaluationsWithSetups } from "./evaluations.ts";
import { findFlow } from "./findFlow.ts";
import { getDataset } from "./getDataset.ts";
import { getDatasetFeatures } from "./getDatasetFeatures.ts";
import { getDatasetQualities } from "./getDatasetQualities.ts";
import { getFlow } from "./getFlow.ts";
import { getRun } from "./getRun.ts";
import { getRunTrace } from "./getRunTrace.ts";
import { getSetup } from "./getSetup.ts";
import { getStudy } from "./getStudy.ts";
import { getTask } from "./getTask.ts";
import { getTaskType } from "./getTaskType.ts";
import { listDatasets } from "./listDatasets.ts";
import { listEstimationProcedures } from "./listEstimationProcedures.ts";
import { listEvaluationMeasures } from "./listEvaluationMeasures.ts";
import { listFlows } from "./listFlows.ts";
import { listRuns } from "./listRuns.ts";
import { listSetups } from "./listSetups.ts";
import { listQualities } from "./listQualities.ts";
import { listStudies } from "./listStudies.ts";
import { listTasks } from "./listTasks.ts";
import { listTaskTypes } from "./listTaskTypes.ts";
import { attachToStudy, detachFromStudy, updateStudyStatus } from "./studies.ts";
import { tagging, tagsInUse } from "./tagging.ts";
import { updateDatasetStatus } from "./updateDatasetStatus.ts";

/** Every endpoint under its name, in the order of the documentation. */
export const endpoints = {
  getDataset,
  listDatasets,
  getDatasetFeatures,
  getDatasetQualities,
  listQualities,
  tagDataset: tagging("tag", "data"),
  untagDataset: tagging("untag", "data"),
  listDatasetTags: tagsInUse("data"),
  updateDatasetStatus,
  getSetup,
  listSetups,
  tagSetup: tagging("tag", "setup"),
  untagSetup: tagging("untag", "setup"),
  listSetupTags: tagsInUse("setup"),
  getStudy,
  listStudies,
  createStudy,
  attachToStudy,
  detachFromStudy,
  updateStudyStatus,
  getFlow,
  listFlows,
  findFlow,
  tagFlow: tagging("tag", "flow"),
  untagFlow: tagging("untag", "flow"),
  listFlowTags: tagsInUse("flow"),
  getTask,
  listTasks,
  tagTask: tagging("tag", "task"),
  untagTask: tagging("untag", "task"),
  listTaskTags: tagsInUse("task"),
  listTaskTypes,
  getTaskType,
  getRun,
  getRunTrace,
  listRuns,
  tagRun: tagging("tag", "run"),
  untagRun: tagging("untag", "run"),
  listRunTags: tagsInUse("run"),
  listEvaluations,
  listEvaluationsWithSetups,
  listEstimationProcedures,
  listEvaluationMeasures,
};
