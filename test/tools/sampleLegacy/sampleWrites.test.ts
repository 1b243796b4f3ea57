import { expect, test } from "vitest";
import type { DatasetRow } from "../../../tools/sampleLegacy/catalogueRows.ts";
import { completeDataset } from "../../../tools/sampleLegacy/completeDataset.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";

const administrator = "AD000000000000000000000000000000";
const normal = "00000000000000000000000000000000";
const owner = "DA1A0000000000000000000000000000";

type Ask = { key?: string; method?: string; form?: Record<string, string> | FormData };

/** A document, the number of an error, or an XML as it is. */
const parse = (text: string): unknown => {
  if (!text.startsWith("{")) return text;
  const body = JSON.parse(text);
  return body.error ? Number(body.error.code) : body;
};

/** A server with three datasets: 5 of user 16, private; 7 of user 2; 9 in preparation, of user 16. */
const open = async () => {
  const datasets: DatasetRow[] = [
    completeDataset({ id: 9, name: "third", uploader: 16, status: "in_preparation" }),
    completeDataset({ id: 5, name: "first", uploader: 16, visibility: "private", tags: [["Mine", 16]] }),
    completeDataset({ id: 7, name: "second", uploader: 2 }),
  ];
  const server = await startSampleLegacy({ datasets });
  const ask = async (path: string, { key, method, form }: Ask = {}): Promise<unknown> => {
    const body = form && (form instanceof FormData ? form : new URLSearchParams(form));
    const query = key ? `?api_key=${key}` : "";
    const answer = await fetch(`${server.url}/api/v1/json/${path}${query}`, {
      method: method ?? (form ? "POST" : "GET"),
      body,
    });
    return parse(await answer.text());
  };
  const listed = async (key?: string, filters = "status/all") => {
    const answer = await ask(`data/list/${filters}`, { key });
    return [...JSON.stringify(answer).matchAll(/"did":(\d+)/g)].map(([, id]) => Number(id));
  };
  return { ask, listed, [Symbol.asyncDispose]: () => server.close() };
};

const edit = (data_id: string, fields: string) => ({
  data_id,
  edit_parameters: `<?xml version="1.0"?>\n<oml:data_edit_parameters xmlns:oml="http://openml.org/openml">${fields}</oml:data_edit_parameters>`,
});
const upload = (fields: string) =>
  `<oml:data_set_description xmlns:oml="http://openml.org/openml">\n${fields}\n</oml:data_set_description>`;

test("the sample lets owners and administrators delete, and uses no id again", async () => {
  await using server = await open();
  const remove = (path: string, key?: string) => server.ask(path, { method: "DELETE", key });
  expect(await remove("data/5")).toContain("<oml:code>102</oml:code>");
  expect(await remove("data/5", normal)).toBe(353);
  expect(await remove("data/6", normal)).toBe(352);
  expect(await remove("data/5", owner)).toEqual({ data_delete: { id: "5" } });
  expect(await remove("data/9", administrator)).toEqual({ data_delete: { id: "9" } });
  expect(await server.listed(owner)).toEqual([7]);
  const description = upload("<oml:name>next</oml:name>");
  expect(await server.ask("data", { key: owner, form: { description } })).toEqual({ upload_data_set: { id: "10" } });
});

test("the sample changes a dataset's status in legacy's order of checks", async () => {
  await using server = await open();
  const update = (data_id: string, status: string, api_key: string) =>
    server.ask("data/status/update", { form: { data_id, status, api_key } });
  const done = (id: string, status: string) => ({ data_status_update: { id, status } });
  expect(await server.ask("data/status/update")).toBe(691);
  expect(await update("7", "deactivated", owner)).toBe(693);
  expect(await update("9", "active", owner)).toBe(696);
  expect(await update("7", "active", administrator)).toBe(694);
  expect(await update("9", "active", administrator)).toEqual(done("9", "active"));
  expect(await update("9", "deactivated", owner)).toEqual(done("9", "deactivated"));
  expect(await server.listed(undefined, "status/deactivated")).toEqual([9]);
});

test("the sample lets every key edit texts, and only owners some fields", async () => {
  await using server = await open();
  const change = (api_key: string, form: Record<string, string>) =>
    server.ask("data/edit", { form: { ...form, api_key } });
  expect(await change(normal, {})).toBe(1062);
  expect(await change(normal, edit("7", "<oml:nosuch>x</oml:nosuch>"))).toBe(1064);
  expect(await change(normal, edit("5", "<oml:visibility>public</oml:visibility>"))).toBe(1065);
  expect(await change(owner, edit("7", "<oml:description>A &amp; B</oml:description>"))).toEqual({
    data_edit: { id: "7" },
  });
  expect(await server.ask("data/7")).toMatchObject({
    data_set_description: { description: "A & B", description_version: "2" },
  });
  await change(normal, edit("7", "<oml:visibility>private</oml:visibility><oml:citation/>"));
  await change(administrator, edit("5", "<oml:visibility>public</oml:visibility>"));
  expect(await server.listed()).toEqual([5, 9]);
});

test("a dataset uploaded to the sample is its caller's, in preparation, unprocessed", async () => {
  await using server = await open();
  const form = new FormData();
  const xml = upload("<oml:name>SECOND</oml:name><oml:format>csv</oml:format><oml:visibility>private</oml:visibility>");
  form.append("description", new Blob([xml]), "description.xml");
  form.append("dataset", new Blob(["a,b"]), "data.csv");
  expect(await server.ask("data", { key: owner, form })).toEqual({ upload_data_set: { id: "10" } });
  expect([await server.listed(owner), await server.listed(normal)]).toEqual([
    [5, 7, 9, 10],
    [7, 9],
  ]);
  expect(await server.ask("data/10", { key: administrator })).toMatchObject({
    data_set_description: { name: "SECOND", version: "2", format: "csv", status: "in_preparation" },
  });
  expect(await server.ask("data/qualities/10", { key: owner })).toBe(363);
  expect(await server.ask("data", { key: owner, form: { description: "no document" } })).toBe(131);
});

const study = (fields: string) => {
  const form = new FormData();
  const xml = `<?xml version="1.0"?>\n<oml:study xmlns:oml="http://openml.org/openml">${fields}</oml:study>`;
  form.append("description", new Blob([xml]), "description.xml");
  return form;
};
const named = (type: string) =>
  `<oml:main_entity_type>${type}</oml:main_entity_type><oml:name>N</oml:name><oml:description>D &amp;amp; E</oml:description>`;

test("the sample creates a study in preparation, by legacy's schema", async () => {
  await using server = await open();
  const create = (fields: string) => server.ask("study", { key: normal, form: study(fields) });
  expect(await create(`${named("task")}<oml:runs><oml:run_id>1</oml:run_id></oml:runs>`)).toBe(1034);
  expect(await create(`<oml:benchmark_suite>99</oml:benchmark_suite>${named("task")}`)).toBe(1035);
  expect(await create(`<oml:alias>SAMPLE-suite</oml:alias>${named("task")}`)).toBe(1038);
  expect(await create(`${named("task")}<oml:tasks><oml:task_id>99999</oml:task_id></oml:tasks>`)).toBe(1039);
  const tasks = "<oml:tasks>\n<oml:task_id>1</oml:task_id>\n<oml:task_id>59</oml:task_id></oml:tasks>";
  expect(await create(`<oml:alias>new</oml:alias>${named("task")}${tasks}`)).toEqual({ study_upload: { id: "108" } });
  expect(await server.ask("study/new")).toMatchObject({
    study: { id: "108", status: "in_preparation", creator: "2", description: "D & E", tasks: { task_id: ["1", "59"] } },
  });
});

test("the sample lets every key change a study's members, its creator its status", async () => {
  await using server = await open();
  const change = (path: string, form: Record<string, string>, api_key = owner) =>
    server.ask(`study/${path}`, { form: { ...form, api_key } });
  const attached = (linked_entities: string) => ({
    study_attach: { id: "100", main_entity_type: "task", linked_entities },
  });
  expect(await change("999/attach", { ids: "1" })).toBe(1041);
  expect(await change("10/attach", { ids: "1" })).toBe(1042);
  for (const ids of ["1,99999", "1,1", "59"]) expect(await change("100/attach", { ids })).toBe(1045);
  expect(await change("100/attach", { ids: "1,2" })).toEqual(attached("3"));
  expect(await change("100/detach", { ids: "59,99999" })).toEqual({
    study_detach: { id: "100", main_entity_type: "task", linked_entities: "2" },
  });
  expect(await change("status/update", { study_id: "101", status: "active" })).toBe(1053);
  for (const key of [normal, administrator])
    expect(await change("status/update", { study_id: "101", status: "active" }, key)).toEqual({
      study_status_update: { id: "101", status: "active" },
    });
});
