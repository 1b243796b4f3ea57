import { describe, expect, test } from "vitest";
import { openSample } from "../../../tools/sampleLegacy/openSample.ts";
import { listeningGateway } from "../http/support.ts";
import { httpUpstream } from "../proxy/support.ts";

/** An administrator: may remove the tags of all users, and change the status of every dataset and study. */
const key = "AD000000000000000000000000000000";

/** A gateway over the sample legacy. While `legacy.isDown`, that breaks each connection. */
const overSampleLegacy = async () => {
  const answer = openSample({});
  const legacy = { isDown: false };
  const legacyUrl = await httpUpstream((request, response) => {
    if (legacy.isDown) request.socket.destroy();
    else answer(request, response).catch(() => response.destroy());
  });
  return { legacy, ...(await listeningGateway(legacyUrl)) };
};

type Fields = { description?: string; [name: string]: unknown };

/** The administrator's write: JSON to the new interface, a form to legacy's; a description is a file. */
const write = (url: string, line: string, fields: Fields): Promise<Response> => {
  const [method = "", path = ""] = line.split(" ");
  if (method === "DELETE" || method === "GET") return fetch(`${url}${path}?api_key=${key}`, { method });
  if (path.startsWith("/v1")) {
    const headers = { "Content-Type": "application/json", "X-API-Key": key };
    return fetch(url + path, { method, headers, body: JSON.stringify(fields) });
  }
  const { description } = fields;
  if (description === undefined)
    return fetch(url + path, { method, body: new URLSearchParams({ ...fields, api_key: key }) });
  const body = new FormData();
  body.set("description", new Blob([description]), "description.xml");
  body.set("api_key", key);
  return fetch(url + path, { method, body });
};

const paths = {
  features: "/v1/datasets/features/61",
  otherFeatures: "/v1/datasets/features/1",
  qualities: "/v1/datasets/61/qualities",
  qualityNames: "/v1/datasets/qualities/list",
  datasetTags: "/v1/data/tag/list",
  // It is made of the flows 105 and 106.
  pipeline: "/v1/flows/104",
  part: "/v1/flow/105",
  otherFlow: "/v1/flows/103",
  flows: "/v1/flows/list",
  flowTags: "/v1/flow/tag/list",
  task: "/v1/tasks/1",
  otherTask: "/v1/tasks/2",
  tasks: "/v1/task/list/limit/5",
  taskTags: "/v1/task/tag/list",
  taskType: "/v1/tasktype/1",
  run: "/v1/run/1",
  trace: "/v1/run/trace/1",
  otherRun: "/v1/runs/2",
  runs: "/v1/run/list/task/1",
  evaluations: "/v1/evaluation/list/run/1",
  ofStudy: "/v1/evaluation/setup/list/study/103",
  setup: "/v1/setup/3",
  setups: "/v1/setups/list",
  setupTags: "/v1/setup/tag/list",
  study: "/v1/studies/99",
  studyByAlias: "/v1/studies/sample-suite",
  otherStudy: "/v1/studies/100",
  studies: "/v1/study/list/limit/5",
};
type Name = keyof typeof paths;
const entries = Object.entries(paths) as [Name, string][];

const fill = async (url: string): Promise<void> => {
  for (const [, path] of entries) expect((await fetch(url + path)).status).toBe(200);
};

/** The answers that would not be served as they are. */
const invalidatedIn = async (url: string): Promise<Name[]> => {
  const invalidated: Name[] = [];
  for (const [name, path] of entries)
    if ((await fetch(url + path, { headers: { "Cache-Control": "only-if-cached" } })).status === 504)
      invalidated.push(name);
  return invalidated;
};

const dataset: Name[] = ["features", "qualities", "datasetTags", "tasks"];
const flow: Name[] = ["pipeline", "part", "flows", "flowTags"];
const ofRuns: Name[] = ["runs", "evaluations", "ofStudy"];
const study: Name[] = ["study", "studyByAlias", "studies"];
const allStudies: Name[] = ["study", "studyByAlias", "otherStudy", "studies"];
const allSetups: Name[] = ["setup", "setups", "setupTags"];

describe("a write invalidates the answers that show it, and no others", () => {
  test.each<[string, Fields, number, Name[]]>([
    // A list of tasks shows the states of datasets.
    ["POST /v1/datasets/tag", { data_id: 61, tag: "a" }, 200, dataset],
    ["POST /v1/datasets/status/update", { dataset_id: 61, status: "deactivated" }, 200, dataset],
    ["POST /api/v1/json/data/status/update", { data_id: "1" }, 412, ["otherFeatures", "datasetTags", "tasks"]],
    ["POST /v1/flows/tag", { flow_id: 105, tag: "a" }, 200, flow],
    ["POST /v1/flows/tag", { flow_id: 104, tag: "a" }, 200, ["pipeline", "flows", "flowTags"]],
    ["POST /v1/flows/untag", { flow_id: 103, tag: "trees" }, 200, ["otherFlow", "flows", "flowTags"]],
    ["POST /api/v1/json/flow/tag", { flow_id: "105", tag: "a" }, 200, flow],
    // An upload names no flow, and may be of any.
    ["POST /api/v1/json/flow", {}, 412, ["flows", "flowTags"]],
    // With a flow go its setups and runs, and studies lose these.
    [
      "DELETE /api/v1/json/flow/105",
      {},
      412,
      [...flow, "run", "trace", "otherRun", ...ofRuns, ...allSetups, ...allStudies],
    ],
    ["POST /v1/tasks/tag", { task_id: 1, tag: "a" }, 200, ["task", "tasks", "taskTags"]],
    ["POST /v1/tasks/untag", { task_id: 1, tag: "demo" }, 200, ["task", "tasks", "taskTags"]],
    ["POST /api/v1/json/task/tag", { task_id: "2", tag: "a" }, 200, ["otherTask", "tasks", "taskTags"]],
    ["POST /api/v1/json/task", {}, 412, ["tasks", "taskTags"]],
    ["DELETE /api/v1/json/task/1", {}, 412, ["task", "tasks", "taskTags", "ofStudy", ...allStudies]],
    ["POST /v1/runs/tag", { run_id: 1, tag: "a" }, 200, ["run", "trace", ...ofRuns]],
    ["POST /v1/runs/untag", { run_id: 2, tag: "twice" }, 200, ["otherRun", ...ofRuns]],
    ["POST /api/v1/json/run/tag", { run_id: "2", tag: "a" }, 200, ["otherRun", ...ofRuns]],
    // Evaluations name their run.
    ["POST /api/v1/json/run/evaluate", { description: "<oml:run_id>1</oml:run_id>" }, 412, ["run", "trace", ...ofRuns]],
    ["GET /api/v1/json/run/reset/1", {}, 412, ["run", "trace", ...ofRuns]],
    ["GET /api_new/v1/json//run/reset/1/", {}, 412, ["run", "trace", ...ofRuns]],
    ["GET /api/v1/json/run/trace/1", {}, 200, []],
    ["POST /api/v1/json/setup/differences/1/3", { task_id: "1" }, 412, allSetups],
    // A new run changes no other run; its setup may be new, too.
    ["POST /api/v1/json/run", { description: "<oml:task_id>1</oml:task_id>" }, 412, [...ofRuns, "setups", "setupTags"]],
    ["DELETE /api/v1/json/run/1", {}, 412, ["run", "trace", ...ofRuns, ...allStudies]],
    ["POST /v1/setup/tag", { setup_id: 1, tag: "a" }, 200, ["setups", "setupTags"]],
    ["POST /v1/setups/tag", { setup_id: 3, tag: "a" }, 200, allSetups],
    ["POST /v1/studies", { name: "N", main_entity_type: "task", description: "D" }, 200, ["studies"]],
    ["POST /v1/studies/attach", { study_id: 99, entity_ids: [2] }, 200, study],
    ["POST /v1/studies/attach", { study_id: 105, entity_ids: [2] }, 403, []],
    ["POST /v1/studies/detach", { study_id: 99, entity_ids: [1, 59] }, 200, study],
    ["POST /v1/studies/status/update", { study_id: 99, status: "deactivated" }, 200, study],
    ["POST /api/v1/json/study/99/attach", { ids: "2" }, 200, study],
    ["POST /api/v1/json/study/103/attach", { ids: "1" }, 412, ["ofStudy", "studies"]],
    ["POST /api/v1/json/study/status/update", { study_id: "100", status: "active" }, 200, ["otherStudy", "studies"]],
  ])("%s %j", async (line, fields, status, expected) => {
    const { url } = await overSampleLegacy();
    await fill(url);
    const answer = await write(url, line, fields);
    await answer.text();
    expect([answer.status, await invalidatedIn(url)]).toEqual([status, expected]);
  });
});

const readsByPost = `
  data/61 data/features/61 data/qualities/61 data/qualities/61/1 data/qualities/list data/list/limit/5 data/tag/list
  data/unprocessed/1/normal data/qualities/unprocessed/1/random/feature flow/104 flow/exists flow/exists/a/1
  run/1 run/trace/1 run/list/task/1 setup/3 setup/exists setup/partial study/99 study/99/data study/99/runs study/list
  task/1 task/inputs/1`;

test("reads by POST invalidate nothing", async () => {
  const { url } = await overSampleLegacy();
  await fill(url);
  for (const path of readsByPost.trim().split(/\s+/))
    for (const form of ["", "json/", "xml/"]) await (await write(url, `POST /api/v1/${form}${path}`, {})).text();
  expect(await invalidatedIn(url)).toEqual([]);
});

describe("while legacy fails, after what the evaluation engine adds", () => {
  const ofDataset: Name[] = ["features", "qualities"];
  test.each<[string, string, Name[]]>([
    ["run/evaluate", "<oml:run_id>1</oml:run_id>", ["run", "trace"]],
    ["run/trace", "<oml:run_id>1</oml:run_id>", ["run", "trace"]],
    ["run/evaluate", "<oml:run_id>1.0</oml:run_id>", ["run", "trace", "otherRun"]],
    ["data/features", "<oml:did>61</oml:did>", ofDataset],
    ["data/qualities", "<oml:did>61</oml:did>", ofDataset],
    ["data/qualities", `<oml:did>61</oml:did>${" ".repeat(70_000)}`, ["features", "otherFeatures", "qualities"]],
  ])("%s invalidates entities, and leaves all lists %#", async (path, description, expected) => {
    const { url, legacy } = await overSampleLegacy();
    await fill(url);
    await (await write(url, `POST /api/v1/json/${path}?api_key=${key}`, { description })).text();
    legacy.isDown = true;
    const gone: Name[] = [];
    for (const [name, address] of entries) if ((await fetch(url + address)).status >= 500) gone.push(name);
    expect(gone).toEqual(expected);
  });
});

describe("a GET that resets a run", () => {
  test("without a key it invalidates nothing", async () => {
    const { url } = await overSampleLegacy();
    await fill(url);
    await (await fetch(`${url}/api/v1/json/run/reset/1`)).text();
    expect(await invalidatedIn(url)).toEqual([]);
  });

  test("if its answer is lost, its entries are served only while legacy fails", async () => {
    const { url, legacy } = await overSampleLegacy();
    await fill(url);
    // Legacy has accepted the key.
    await (await fetch(`${url}/v1/datasets/61?api_key=${key}`)).text();
    legacy.isDown = true;
    expect((await write(url, "GET /api/v1/json/run/reset/1", {})).status).toBe(502);
    expect(await invalidatedIn(url)).toEqual(["run", "trace", ...ofRuns]);
    expect((await fetch(url + paths.run)).headers.get("cache-status")).toContain("stale-if-error");
  });
});

test("a study that is created is there at once, under its alias too", async () => {
  const { url } = await overSampleLegacy();
  const wanted = { name: "New", alias: "new", main_entity_type: "run", benchmark_suite: 99, description: "\r\n D" };
  expect((await fetch(`${url}/v1/studies/new`)).status).toBe(404);
  const created = await write(url, "POST /v1/studies", { ...wanted, runs: [1, 2] });
  expect(await created.json()).toEqual({ study_id: 108 });
  const read = await fetch(`${url}/v1/studies/new`);
  expect(await read.json()).toMatchObject({ ...wanted, description: "D", id: 108, creator: 1, run_ids: [1, 2] });
});

test("a run that is attached to a new study shows in the cached lists of that study", async () => {
  const { url } = await overSampleLegacy();
  const post = async (path: string, fields: Fields) =>
    (await (await write(url, `POST ${path}`, fields)).json()) as Record<string, number>;
  const { study_id } = await post("/v1/studies", { name: "N", description: "D", main_entity_type: "run", runs: [1] });
  const runsIn = async (list: string): Promise<Set<number>> => {
    const answer = await fetch(`${url}/v1/${list}/study/${study_id}`);
    return new Set(((await answer.json()) as { run_id: number }[]).map(({ run_id }) => run_id));
  };
  const both = () => Promise.all([runsIn("run/list/uploader/1,2,3"), runsIn("evaluation/list")]);
  expect(await both()).toEqual([new Set([1]), new Set([1])]);
  expect(await post("/v1/studies/attach", { study_id, entity_ids: [4] })).toMatchObject({ linked_entities: 2 });
  expect(await both()).toEqual([new Set([1, 4]), new Set([1, 4])]);
  await post("/v1/studies/detach", { study_id, entity_ids: [1] });
  expect(await both()).toEqual([new Set([4]), new Set([4])]);
});
