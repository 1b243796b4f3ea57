import { expect, onTestFinished, test } from "vitest";
import { fillCache, form, json, key } from "./filledCache.ts";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { listeningGateway } from "../http/support.ts";

const paths = {
  run: "/v1/run/1",
  trace: "/v1/run/trace/1",
  otherRun: "/v1/runs/2",
  runs: "/v1/run/list/task/1",
  evaluations: "/v1/evaluation/list/run/1",
  ofStudy: "/v1/evaluation/setup/list/study/103",
  setup: "/v1/setup/3",
  setups: "/v1/setups/list",
};
type Name = keyof typeof paths;

const filled = () => fillCache(paths);

const upload = (description: string) => {
  const body = new FormData();
  body.set("description", new Blob([description]), "description.xml");
  body.set("api_key", key);
  return { body };
};

const lists: Name[] = ["runs", "evaluations", "ofStudy"];

test.each<[string, RequestInit, Name[]]>([
  ["/v1/runs/tag", json({ run_id: 1, tag: "a" }), ["run", "trace", ...lists]],
  ["/v1/runs/untag", json({ run_id: 2, tag: "twice" }), ["otherRun", ...lists]],
  ["/api/v1/json/run/tag", form({ run_id: "2", tag: "a" }), ["otherRun", ...lists]],
  // Evaluations name their run.
  ["/api/v1/json/run/evaluate", upload("<oml:run_id>1</oml:run_id>"), ["run", "trace", ...lists]],
  // A new run changes no other one; its setup may be new, too.
  ["/api/v1/json/run", upload("<oml:run><oml:task_id>1</oml:task_id></oml:run>"), [...lists, "setups"]],
  ["/v1/setups/tag", json({ setup_id: 3, tag: "a" }), ["setup", "setups"]],
  ["/api/v1/json/study/103/attach", form({ ids: "1" }), ["ofStudy"]],
])("POST %s %# invalidates what shows it", async (path, init, expected) => {
  const { url, dropped } = await filled();
  await (await fetch(url + path, { method: "POST", ...init })).text();
  expect(await dropped()).toEqual(expected);
});

test.each<[string, Name[]]>([
  ["run/1", ["run", "trace", ...lists]],
  ["flow/103", ["run", "trace", "otherRun", ...lists, "setup", "setups"]],
])("DELETE %s invalidates what shows it", async (path, expected) => {
  const { url, dropped } = await filled();
  await (await fetch(`${url}/api/v1/json/${path}?api_key=${key}`, { method: "DELETE" })).text();
  expect(await dropped()).toEqual(expected);
});

test("a run that is attached to a new study shows in the cached lists of that study", async () => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  const { url } = await listeningGateway(legacy.url);
  const post = async (path: string, fields: object): Promise<Record<string, number>> => {
    const answer = await fetch(url + path, { method: "POST", ...json(fields) });
    return (await answer.json()) as Record<string, number>;
  };
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
