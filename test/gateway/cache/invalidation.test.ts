import { describe, expect, test } from "vitest";
import { openSample } from "../../../tools/sampleLegacy/openSample.ts";
import { fakeLegacy } from "../../support/fakeLegacy.ts";
import { listeningGateway } from "../http/support.ts";
import { alice, clock, filledGateway } from "./support.ts";

/** An administrator: may remove the tags of all users, and change the status of every dataset and study. */
const key = "AD000000000000000000000000000000";

/** A gateway over the sample legacy. `begin`: the sample starts anew. */
const overSampleLegacy = async () => {
  let answer = openSample({});
  const legacy = await fakeLegacy({ answer: (...exchange) => answer(...exchange) });
  const begin = () => void (answer = openSample({}));
  return { legacy, begin, ...(await listeningGateway(legacy.url)) };
};

/** `inParts`: the form is multipart, as it is with a description. */
type Fields = { description?: string; inParts?: true; [name: string]: unknown };

/** The administrator's write: JSON to the new interface, a form to legacy's; a description is a file. */
const write = (url: string, line: string, fields: Fields): Promise<Response> => {
  const [method = "", path = ""] = line.split(" ");
  if (method === "DELETE" || method === "GET") return fetch(`${url}${path}?api_key=${key}`, { method });
  if (path.startsWith("/v1")) {
    const headers = { "Content-Type": "application/json", "X-API-Key": key };
    return fetch(url + path, { method, headers, body: JSON.stringify(fields) });
  }
  const { description, inParts = false, ...others } = fields;
  const texts = new URLSearchParams({ ...others, api_key: key });
  if (description === undefined && !inParts) return fetch(url + path, { method, body: texts });
  const body = new FormData();
  if (description !== undefined) body.set("description", new Blob([description]), "description.xml");
  for (const [name, text] of texts) body.set(name, text);
  return fetch(url + path, { method, body });
};

const paths = {
  record: "/v1/datasets/61",
  otherRecord: "/v1/datasets/1",
  datasets: "/v1/data/list/limit/5",
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

const fill = async (url: string, names = Object.keys(paths) as Name[]): Promise<void> => {
  for (const name of names) expect((await fetch(url + paths[name])).status).toBe(200);
};

/** The answers that would not be served as they are. */
const invalidatedIn = async (url: string): Promise<Name[]> => {
  const headers = { "Cache-Control": "only-if-cached" };
  const statuses = await Promise.all(entries.map(async ([, path]) => (await fetch(url + path, { headers })).status));
  return entries.flatMap(([name], i) => (statuses[i] === 504 ? [name] : []));
};

const datasetLists: Name[] = ["datasets", "datasetTags", "tasks"];
const dataset: Name[] = ["record", "features", "qualities", ...datasetLists];
const otherDataset: Name[] = ["otherRecord", "otherFeatures", ...datasetLists];
const allDatasets: Name[] = [...dataset, "otherRecord", "otherFeatures"];
const flow: Name[] = ["pipeline", "part", "flows", "flowTags"];
const ofRuns: Name[] = ["runs", "evaluations", "ofStudy"];
const study: Name[] = ["study", "studyByAlias", "studies"];
const allStudies: Name[] = ["study", "studyByAlias", "otherStudy", "studies"];
const allSetups: Name[] = ["setup", "setups", "setupTags"];

/** Writes, the status of their answers, and what they invalidate. */
const writes: [string, Fields, number, Name[]][] = [
  // A list of tasks shows the states of datasets.
  ["POST /v1/datasets/tag", { data_id: 61, tag: "a" }, 200, dataset],
  ["POST /v1/datasets/status/update", { dataset_id: 61, status: "deactivated" }, 200, dataset],
  ["POST /api/v1/json/data/status/update", { data_id: "1" }, 412, otherDataset],
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
  // Every spelling of the path, the fields and the id names the same dataset.
  ["POST /api/v1/json/data/tag", { data_id: 61, tag: "a", inParts: true }, 200, dataset],
  ["POST /api/v1/xml/data/untag", { data_id: " 000061 ", tag: "a" }, 412, dataset],
  ["POST /api/v1/data/status/update", { data_id: 61, status: "deactivated" }, 200, dataset],
  ["POST /?/api/v1/json/data/tag", { data_id: 61, tag: "a" }, 200, dataset],
  ["POST /api_new/v1/json//data/edit/", { data_id: 61, edit_parameters: "<x/>", inParts: true }, 412, dataset],
  ["POST /api/v1/json/data/tag", { "data.id": 61, tag: "a" }, 412, dataset],
  ["POST /api/v1/json/data/tag", { data_id: 61, my_data_id: 1, data_ids: 1, tag: "a" }, 200, dataset],
  ["POST /api/v1/json/data/qualities", { description: "<oml:did>61</oml:did>" }, 412, dataset],
  ["DELETE /api/v1/json/data/61", {}, 200, dataset],
  ["PUT /api/v1/json/data/61", {}, 412, dataset],
  // The request does not name the dataset for certain, so it may be any.
  ["POST /api/v1/json/data/61.0", {}, 500, allDatasets],
  ["POST /api/v1/json/data/tag", { data_id: "61abc", tag: "a" }, 500, allDatasets],
  ["POST /api/v1/json/data/tag", { data_id: 1, "data.id": 61, tag: "a" }, 200, allDatasets],
  ["POST /api/v1/json/data/tag", { data_id: 1, "data.id": 61, tag: "a", inParts: true }, 200, allDatasets],
  ["POST /api/v1/json/data/tag?data+id=1", { data_id: 61, tag: "a" }, 200, allDatasets],
  ["POST /api/v1/json/data/tag", { padding: "x".repeat(70_000), data_id: 61, tag: "a" }, 200, allDatasets],
  // An upload adds a dataset: no other dataset changes.
  ["POST /api/v1/json/data", { description: "<oml:data_set_description/>" }, 412, datasetLists],
  [`POST /api/v1/json/data?api_key=${key}`, { description: "x".repeat(70_000) }, 412, datasetLists],
  ["POST /api/v1/json/study/sample-suite/detach", { ids: 1 }, 412, ["ofStudy", ...allStudies]],
  ["POST /nowhere/data", { data_id: 61 }, 200, []],
];

const inOrder = (names: Name[]) => entries.flatMap(([name]) => (names.includes(name) ? [name] : []));

test("a write invalidates the answers that show it, and no others", async () => {
  const { pass } = clock();
  const { url, begin } = await overSampleLegacy();
  let missing = Object.keys(paths) as Name[];
  for (const [line, fields, status, expected] of writes) {
    begin();
    await fill(url, missing);
    const answer = await write(url, line, fields);
    await answer.text();
    missing = await invalidatedIn(url);
    // It may have happened or not: for half a minute nothing that it may have changed is stored.
    if (status === 500) pass(31_000);
    const row = `${line} ${JSON.stringify(fields).slice(0, 100)}`;
    expect.soft([row, answer.status, missing]).toEqual([row, status, inOrder(expected)]);
  }
});

test("a refused write invalidates nothing, or any client could empty the cache", async () => {
  const { ask, post, as, invalidated } = await filledGateway();
  const wrong = "c".repeat(32);
  for (const fields of [{}, ...["", "gzip", "br", "deflate", "zstd"].map((coded) => ({ api_key: wrong, coded }))])
    for (const form of ["json", "xml"]) {
      const body = new URLSearchParams({ data_id: "61", tag: "a", ...fields });
      expect((await ask(`/api/v1/${form}/data/tag`, {}, { method: "POST", body })).status).toBe(412);
    }
  expect((await ask("/api/v1/json/flow/12", {}, { method: "DELETE" })).status).toBe(412);
  // The gateway refuses the last two itself.
  for (const [tag, headers, status] of [
    ["a", as(wrong), 401],
    ["a b", as(alice), 422],
    ["a", as("0"), 401],
  ] as const)
    expect((await post("/v1/datasets/tag", { data_id: 61, tag }, headers)).status).toBe(status);
  expect(await invalidated()).toEqual([]);
});

const readsByPost = `
  data/61 data/features/61 data/qualities/61 data/qualities/61/1 data/qualities/list data/list/limit/5 data/tag/list
  data/unprocessed/1/normal data/qualities/unprocessed/1/random/feature flow/104 flow/exists flow/exists/a/1
  run/1 run/trace/1 run/list/task/1 setup/3 setup/exists setup/partial study/99 study/99/data study/99/runs study/list
  task/1 task/inputs/1`;

test("reads by POST, and the reset of a run without a key, invalidate nothing", async () => {
  const { url } = await overSampleLegacy();
  await fill(url);
  await (await fetch(`${url}/api/v1/json/run/reset/1`)).text();
  for (const path of readsByPost.trim().split(/\s+/))
    for (const form of ["", "json/", "xml/"]) await (await write(url, `POST /api/v1/${form}${path}`, {})).text();
  expect(await invalidatedIn(url)).toEqual([]);
});

describe("while legacy fails, after what the evaluation engine adds", () => {
  const ofDataset: Name[] = ["record", "features", "qualities"];
  test.each<[string, string, Name[]]>([
    ["run/evaluate", "<oml:run_id>1</oml:run_id>", ["run", "trace"]],
    ["run/trace", "<oml:run_id>1</oml:run_id>", ["run", "trace"]],
    ["run/evaluate", "<oml:run_id>1.0</oml:run_id>", ["run", "trace", "otherRun"]],
    ["data/features", "<oml:did>61</oml:did>", ofDataset],
    ["data/qualities", "<oml:did>61</oml:did>", ofDataset],
    [
      "data/qualities",
      `<oml:did>61</oml:did>${" ".repeat(70_000)}`,
      ["record", "otherRecord", "features", "otherFeatures", "qualities"],
    ],
  ])("%s invalidates entities, and leaves all lists %#", async (path, description, expected) => {
    const { url, legacy } = await overSampleLegacy();
    await fill(url);
    await (await write(url, `POST /api/v1/json/${path}?api_key=${key}`, { description })).text();
    legacy.trouble = "down";
    const gone: Name[] = [];
    for (const [name, address] of entries) if ((await fetch(url + address)).status >= 500) gone.push(name);
    expect(gone).toEqual(expected);
  });
});

test("a reset of a run whose answer is lost leaves what it changes for outages", async () => {
  const { url, legacy } = await overSampleLegacy();
  await fill(url);
  // Legacy has accepted the key.
  await (await fetch(`${url}/v1/datasets/61?api_key=${key}`)).text();
  legacy.trouble = "down";
  expect((await write(url, "GET /api/v1/json/run/reset/1", {})).status).toBe(502);
  expect(await invalidatedIn(url)).toEqual(["run", "trace", ...ofRuns]);
  expect((await fetch(url + paths.run)).headers.get("cache-status")).toContain("stale-if-error");
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
