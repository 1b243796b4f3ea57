import { findFlow } from "./findFlow.ts";
import { getDataset } from "./getDataset.ts";
import { getSetup } from "./getSetup.ts";
import { getStudy } from "./getStudy.ts";
import { listDatasets } from "./listDatasets.ts";
import { listEstimationProcedures } from "./listEstimationProcedures.ts";
import { listEvaluationMeasures } from "./listEvaluationMeasures.ts";
import { tagDataset } from "./tagDataset.ts";
import { tagSetup } from "./tagSetup.ts";
import { untagDataset } from "./untagDataset.ts";
import { untagSetup } from "./untagSetup.ts";

/** Every endpoint under its one name, in the order of the documentation. */
export const endpoints = {
  getDataset,
  listDatasets,
  tagDataset,
  untagDataset,
  getSetup,
  tagSetup,
  untagSetup,
  getStudy,
  findFlow,
  listEstimationProcedures,
  listEvaluationMeasures,
};
