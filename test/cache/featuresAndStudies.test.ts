import { expect, test } from "vitest";
import { fillCache, form, json } from "./filledCache.ts";

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

const filled = () => fillCache(paths);

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
