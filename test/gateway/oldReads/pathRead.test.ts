import { expect, test } from "vitest";
import { openPathReads } from "../../../src/gateway/oldReads/pathRead.ts";
import { gatewayFor } from "../../support/gateway.ts";

const { core } = await gatewayFor("http://127.0.0.1:1", { CACHE_LEGACY: "all" });
const readPath = openPathReads(core, "");

/** The reads of scikit-learn, openml-python, mlr3oml and the Java client, by the endpoint that each reads. */
const clients: Record<string, readonly string[]> = {
  getDataset: ["json/data/61", "xml/data/61", "data/61"],
  getDatasetFeatures: ["json/data/features/61", "xml/data/features/61"],
  getDatasetQualities: ["json/data/qualities/61", "xml/data/qualities/61"],
  listDatasets: [
    "json/data/list/data_name/iris/limit/2/status/active",
    "json/data/list/data_name/iris/limit/2/data_version/1",
    "json/data/list/data_name/iris/limit/2/status/active/",
    "xml/data/list/limit/10000/offset/0",
    "xml/data/list/tag/study_14/limit/10000/offset/10000/status/active",
    "json/data/list/number_instances/10..100/limit/1000",
    "json/data/list/limit/100000",
  ],
  listQualities: ["xml/data/qualities/list"],
  getTask: ["xml/task/1", "json/task/1"],
  listTasks: ["xml/task/list/limit/10000/offset/0", "json/task/list/type/1/limit/1000/data_id/61"],
  listTaskTypes: ["xml/tasktype/list"],
  getTaskType: ["xml/tasktype/1"],
  getFlow: ["xml/flow/1", "json/flow/1"],
  listFlows: ["xml/flow/list/limit/10000/offset/0", "json/flow/list/uploader/1"],
  getSetup: ["xml/setup/1", "json/setup/1"],
  listSetups: ["xml/setup/list/limit/1000/offset/0/flow/1", "json/setup/list/setup/1,2/limit/1000"],
  getRun: ["xml/run/1", "json/run/1"],
  getRunTrace: ["xml/run/trace/1"],
  listRuns: ["xml/run/list/limit/10000/offset/0/task/1", "json/run/list/task/1/limit/10"],
  listEvaluations: [
    "xml/evaluation/list/function/predictive_accuracy/limit/10000/offset/0/task/1,2",
    "json/evaluation/list/function/area_under_roc_curve/task/1/limit/10",
  ],
  listEvaluationsWithSetups: ["xml/evaluation/setup/list/function/predictive_accuracy/limit/100/offset/0/task/1"],
  listEvaluationMeasures: ["xml/evaluationmeasure/list", "json/evaluationmeasure/list"],
  listEstimationProcedures: ["xml/estimationprocedure/list", "json/estimationprocedure/list"],
  getStudy: ["xml/study/99", "json/study/OpenML-CC18"],
  listStudies: ["xml/study/list/limit/10000/offset/0/main_entity_type/task", "xml/study/list/main_entity_type/run"],
  // No endpoint has these.
  listUsers: ["xml/user/list/user_id/1,2", "json/user/list/user_id/1"],
  getStudyMembers: ["xml/study/99/data"],
  getEstimationProcedure: ["xml/estimationprocedure/1"],
  getTaskInputs: ["task/inputs/59"],
};

/** Reads of these clients that pass. */
const passing = [
  "json/user/list",
  "xml/evaluation/request/1/normal/1",
  "json/data/unprocessed/0/normal",
  // It is uncertain how legacy reads them: a write to the same record would not invalidate their answers.
  "json/data/features/61.0",
  "xml/task/1.0",
  "json/run/list/task/1.0",
];

test.each(Object.entries(clients).flatMap(([name, paths]) => paths.map((path) => [path, name] as const)))(
  "GET /api/v1/%s is a read of %s",
  (path, name) => {
    const read = readPath(`/api/v1/${path}`);
    expect([read?.name, read?.form, read?.cacheKeys.http.endpoint]).toEqual([
      name,
      path.startsWith("json/") ? "json" : "xml",
      `legacy ${name}`,
    ]);
  },
);

test.each(passing)("GET /api/v1/%s passes", (path) => {
  expect(readPath(`/api/v1/${path}`)).toBeUndefined();
});

test("names are compared as legacy does, undecoded and in their case", () => {
  const keyOf = (path: string) => readPath(`/api/v1/json/${path}`)?.cacheKeys.http.key;
  expect(keyOf("study/OpenML-CC18")).not.toBe(keyOf("study/openml-cc18"));
  expect(keyOf("data/61")).toBe(keyOf("/data//61/"));
  expect(keyOf("data/61")).not.toBe(keyOf("data/061"));
});
