import { attachToStudy } from "./attachToStudy.ts";
import { createStudy } from "./createStudy.ts";
import { detachFromStudy } from "./detachFromStudy.ts";
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
import { listEvaluations } from "./listEvaluations.ts";
import { listEvaluationsWithSetups } from "./listEvaluationsWithSetups.ts";
import { listFlows } from "./listFlows.ts";
import { listRuns } from "./listRuns.ts";
import { listSetups } from "./listSetups.ts";
import { listQualities } from "./listQualities.ts";
import { listStudies } from "./listStudies.ts";
import { listTasks } from "./listTasks.ts";
import { listTaskTypes } from "./listTaskTypes.ts";
import {
  tagDataset,
  untagDataset,
  listDatasetTags,
  tagSetup,
  untagSetup,
  listSetupTags,
  tagFlow,
  untagFlow,
  listFlowTags,
  tagTask,
  untagTask,
  listTaskTags,
  tagRun,
  untagRun,
  listRunTags,
} from "./tagging.ts";
import { updateDatasetStatus } from "./updateDatasetStatus.ts";
import { updateStudyStatus } from "./updateStudyStatus.ts";

/** Every endpoint under its one name, in the order of the documentation. */
export const endpoints = {
  getDataset,
  listDatasets,
  getDatasetFeatures,
  getDatasetQualities,
  listQualities,
  tagDataset,
  untagDataset,
  listDatasetTags,
  updateDatasetStatus,
  getSetup,
  listSetups,
  tagSetup,
  untagSetup,
  listSetupTags,
  getStudy,
  listStudies,
  createStudy,
  attachToStudy,
  detachFromStudy,
  updateStudyStatus,
  getFlow,
  listFlows,
  findFlow,
  tagFlow,
  untagFlow,
  listFlowTags,
  getTask,
  listTasks,
  tagTask,
  untagTask,
  listTaskTags,
  listTaskTypes,
  getTaskType,
  getRun,
  getRunTrace,
  listRuns,
  tagRun,
  untagRun,
  listRunTags,
  listEvaluations,
  listEvaluationsWithSetups,
  listEstimationProcedures,
  listEvaluationMeasures,
};
