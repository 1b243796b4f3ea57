import { expect, test } from "vitest";
import { fillCache, form, json, key } from "./filledCache.ts";

const paths = {
  // It is made of the flows 105 and 106.
  pipeline: "/v1/flows/104",
  part: "/v1/flow/105",
  otherFlow: "/v1/flows/103",
  flows: "/v1/flows/list",
  task: "/v1/tasks/1",
  otherTask: "/v1/tasks/2",
  tasks: "/v1/task/list/limit/5",
  taskType: "/v1/tasktype/1",
};
type Name = keyof typeof paths;

const filled = () => fillCache(paths);

test.each<[string, RequestInit, Name[]]>([
  ["/v1/flows/tag", json({ flow_id: 105, tag: "a" }), ["pipeline", "part", "flows"]],
  ["/v1/flows/tag", json({ flow_id: 104, tag: "a" }), ["pipeline", "flows"]],
  ["/v1/flows/untag", json({ flow_id: 103, tag: "trees" }), ["otherFlow", "flows"]],
  ["/v1/tasks/tag", json({ task_id: 1, tag: "a" }), ["task", "tasks"]],
  ["/v1/tasks/untag", json({ task_id: 1, tag: "demo" }), ["task", "tasks"]],
  ["/api/v1/json/flow/tag", form({ flow_id: "105", tag: "a" }), ["pipeline", "part", "flows"]],
  ["/api/v1/json/task/tag", form({ task_id: "2", tag: "a" }), ["otherTask", "tasks"]],
  // A list of tasks shows the states of datasets.
  ["/v1/datasets/tag", json({ data_id: 61, tag: "a" }), ["tasks"]],
  // An upload names no flow, and may be of any.
  ["/api/v1/json/flow", form({}), ["pipeline", "part", "otherFlow", "flows"]],
  ["/api/v1/json/task", form({}), ["task", "otherTask", "tasks"]],
])("POST %s %# invalidates what shows it", async (path, init, expected) => {
  const { url, dropped } = await filled();
  await (await fetch(url + path, { method: "POST", ...init })).text();
  expect(await dropped()).toEqual(expected);
});

test.each<[string, Name[]]>([
  ["flow/105", ["pipeline", "part", "flows"]],
  ["task/1", ["task", "tasks"]],
])("DELETE %s invalidates what shows it", async (path, expected) => {
  const { url, dropped } = await filled();
  await (await fetch(`${url}/api/v1/json/${path}?api_key=${key}`, { method: "DELETE" })).text();
  expect(await dropped()).toEqual(expected);
});
