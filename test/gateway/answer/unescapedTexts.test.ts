import { expect, onTestFinished, test } from "vitest";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { listeningGateway } from "../http/support.ts";

const key = "AD000000000000000000000000000000";

const running = async () => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  const { url } = await listeningGateway(legacy.url);
  const get = async (path: string): Promise<{ status: number; body: unknown }> => {
    const answer = await fetch(url + path);
    return { status: answer.status, body: await answer.json() };
  };
  const post = async (path: string, fields: object): Promise<{ status: number; body: Record<string, unknown> }> => {
    const headers = { "Content-Type": "application/json", "X-API-Key": key };
    const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(fields) });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  /** Creates a study through the legacy interface, which takes any text. */
  const upload = async (name: string, description: string): Promise<number> => {
    const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    const form = new FormData();
    const texts = `<oml:name>${escaped(name)}</oml:name><oml:description>${escaped(description)}</oml:description>`;
    const xml = `<oml:study xmlns:oml="http://openml.org/openml"><oml:main_entity_type>task</oml:main_entity_type>${texts}</oml:study>`;
    form.set("description", new Blob([xml]), "description.xml");
    form.set("api_key", key);
    const answer = await fetch(`${url}/api/v1/json/study`, { method: "POST", body: form });
    return Number(((await answer.json()) as { study_upload: { id: string } }).study_upload.id);
  };
  return { get, post, upload, legacy };
};

test("a study whose texts break legacy's JSON is shown, and the list with it", async () => {
  const { get, post, upload, legacy } = await running();
  const [name, description] = ['rv <b>&" study', "a <x> & b"];
  const study_id = await upload(name, description);
  expect((await post("/v1/studies/status/update", { study_id, status: "active" })).status).toBe(200);
  expect((await fetch(`${legacy.url}/api/v1/json/study/list`)).status).toBe(500);
  expect(await get("/v1/studies/list")).toMatchObject({
    status: 200,
    body: expect.arrayContaining([expect.objectContaining({ id: study_id, name })]),
  });
  expect(await get(`/v1/studies/${study_id}`)).toMatchObject({ status: 200, body: { name, description } });
});

test("a trace and a run whose texts break legacy's JSON are shown as they were written", async () => {
  const { get, legacy } = await running();
  for (const path of ["run/trace/4", "run/2"])
    expect((await fetch(`${legacy.url}/api/v1/json/${path}`)).status).toBe(500);
  expect(await get("/v1/run/trace/4")).toMatchObject({
    status: 200,
    body: { trace: [{ setup_string: null }, { setup_string: "score=<function f at 0x7f> & more" }] },
  });
  expect(await get("/v1/run/2")).toMatchObject({
    status: 200,
    body: { output_data: { file: [{ url: "https://legacy.example/data/download/303/R&D.arff" }] } },
  });
});

test("the new interface creates no study that legacy cannot show", async () => {
  const { get, post } = await running();
  const before = await get("/v1/studies/list");
  const refused = await post("/v1/studies", { name: "R&D", main_entity_type: "task", description: "a <x>" });
  expect(refused).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ["body", "name"] }, { loc: ["body", "description"] }] },
  });
  expect(await get("/v1/studies/list")).toEqual(before);
});
