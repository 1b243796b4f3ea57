import { expect, onTestFinished, test } from "vitest";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { listeningGateway } from "../http/support.ts";

/** An administrator may change the status of every dataset and study. */
const key = "AD000000000000000000000000000000";
const paths = {
  features: "/v1/datasets/features/61",
  otherFeatures: "/v1/datasets/features/1",
  qualities: "/v1/datasets/61/qualities",
  qualityNames: "/v1/datasets/qualities/list",
  datasetTags: "/v1/data/tag/list",
  flowTags: "/v1/flow/tag/list",
  taskTags: "/v1/task/tag/list",
  setupTags: "/v1/setup/tag/list",
  study: "/v1/studies/99",
  studyByAlias: "/v1/studies/sample-suite",
  otherStudy: "/v1/studies/100",
  studies: "/v1/study/list/limit/5",
};
type Name = keyof typeof paths;

const filled = async () => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  const { url } = await listeningGateway(legacy.url);
  for (const path of Object.values(paths)) expect((await fetch(url + path)).status).toBe(200);
  const dropped = async (): Promise<Name[]> => {
    const gone: Name[] = [];
    for (const [name, path] of Object.entries(paths) as [Name, string][]) {
      const answer = await fetch(url + path, { headers: { "Cache-Control": "only-if-cached" } });
      if (answer.status === 504) gone.push(name);
    }
    return gone;
  };
  return { url, dropped };
};

const json = (fields: object) => ({
  headers: { "Content-Type": "application/json", "X-API-Key": key },
  body: JSON.stringify(fields),
});
const form = (fields: Record<string, string>) => ({ body: new URLSearchParams({ ...fields, api_key: key }) });
const ofStudy: Name[] = ["study", "studyByAlias", "studies"];

test.each<[string, RequestInit, number, Name[]]>([
  [
    "/v1/datasets/status/update",
    json({ dataset_id: 61, status: "deactivated" }),
    200,
    ["features", "qualities", "datasetTags"],
  ],
  ["/v1/datasets/tag", json({ data_id: 1, tag: "a" }), 200, ["otherFeatures", "datasetTags"]],
  ["/v1/flows/tag", json({ flow_id: 101, tag: "a" }), 200, ["flowTags"]],
  ["/v1/tasks/tag", json({ task_id: 1, tag: "a" }), 200, ["taskTags"]],
  ["/v1/setup/tag", json({ setup_id: 1, tag: "a" }), 200, ["setupTags"]],
  ["/v1/studies/attach", json({ study_id: 99, entity_ids: [2] }), 200, ofStudy],
  ["/v1/studies/detach", json({ study_id: 99, entity_ids: [1, 59] }), 200, ofStudy],
  ["/v1/studies/status/update", json({ study_id: 99, status: "deactivated" }), 200, ofStudy],
  ["/v1/studies", json({ name: "N", main_entity_type: "task", description: "D" }), 200, ["studies"]],
  ["/v1/studies/attach", json({ study_id: 105, entity_ids: [2] }), 403, []],
  ["/api/v1/json/data/status/update", form({ data_id: "1", status: "x" }), 412, ["otherFeatures", "datasetTags"]],
  ["/api/v1/json/study/99/attach", form({ ids: "2" }), 200, ofStudy],
  ["/api/v1/json/study/status/update", form({ study_id: "100", status: "active" }), 200, ["otherStudy", "studies"]],
])("POST %s %# invalidates what shows it", async (path, init, status, expected) => {
  const { url, dropped } = await filled();
  const answer = await fetch(url + path, { method: "POST", ...init });
  await answer.text();
  expect(answer.status).toBe(status);
  expect(await dropped()).toEqual(expected);
});

test("a study that is created is there at once, under its alias too", async () => {
  const { url } = await filled();
  const wanted = { name: "New", alias: "new", main_entity_type: "run", benchmark_suite: 99, description: "\r\n D" };
  expect((await fetch(`${url}/v1/studies/new`)).status).toBe(404);
  const created = await fetch(`${url}/v1/studies`, { method: "POST", ...json({ ...wanted, runs: [1, 2] }) });
  expect(await created.json()).toEqual({ study_id: 108 });
  const read = await fetch(`${url}/v1/studies/new`);
  expect(await read.json()).toMatchObject({ ...wanted, description: "D", id: 108, creator: 1, run_ids: [1, 2] });
});
