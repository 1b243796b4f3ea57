import { describe, expect, test } from "vitest";
import { alice, cachedGateway, type CachedName as Name, coalesced, filledGateway, markOf } from "./support.ts";
import { settled, until } from "../../support/waiting.ts";

const form = (fields: Record<string, string>) => ({
  headers: { "Content-Type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams({ ...fields, api_key: alice }).toString(),
});
const parts = (fields: Record<string, string>) => {
  const body = new FormData();
  for (const [name, value] of Object.entries({ ...fields, api_key: alice })) body.set(name, value);
  return { headers: {}, body };
};
const none = { headers: {}, body: "" };
type Ask = Awaited<ReturnType<typeof cachedGateway>>["ask"];
const passing = (ask: Ask, path: string, fields: Record<string, string>, signal?: AbortSignal) => {
  const { headers, body } = form(fields);
  return ask(path, headers, { method: "POST", body, ...(signal ? { signal } : {}) });
};

describe("a write invalidates before its answer is there", () => {
  test.each<[string, object, Name[]]>([
    ["/v1/datasets/tag", { data_id: 61, tag: "a" }, ["getDataset", "listDatasets"]],
    ["/v1/datasets/untag", { data_id: 62, tag: "a" }, ["listDatasets", "otherDataset"]],
    ["/v1/setup/tag", { setup_id: 3, tag: "a" }, ["getSetup"]],
    ["/v1/setups/untag", { setup_id: 4, tag: "a" }, ["otherSetup"]],
  ])("POST %s %j", async (path, json, expected) => {
    const { post, as, invalidated } = await filledGateway();
    const answer = await post(path, json, as(alice));
    expect([answer.status, answer.how]).toEqual([200, "fwd=method"]);
    expect(answer.headers.get("cache-group-invalidation")).toMatch(/^"(dataset|setup)\/\d+", "(datasets|setups)"$/);
    expect(await invalidated()).toEqual(expected);
  });

  const dataset: Name[] = ["getDataset", "listDatasets"];
  const datasets: Name[] = ["getDataset", "listDatasets", "otherDataset"];
  test.each<[string, { headers: object; body: string | FormData }, Name[]]>([
    ["POST /api/v1/json/data/tag", form({ data_id: "61", tag: "a" }), dataset],
    ["POST /api/v1/json/data/tag", parts({ data_id: "61", tag: "a" }), dataset],
    ["POST /api/v1/xml/data/untag", form({ data_id: " 000061 ", tag: "a" }), dataset],
    ["POST /api/v1/data/status/update", form({ data_id: "61", status: "deactivated" }), dataset],
    ["POST /?/api/v1/json/data/tag", form({ data_id: "61", tag: "a" }), dataset],
    ["POST /api_new/v1/json//data/edit/", parts({ data_id: "61", edit_parameters: "<x/>" }), dataset],
    [
      "POST /api/v1/json/data/qualities",
      parts({ description: "<oml:data_qualities><oml:did>61</oml:did></oml:data_qualities>" }),
      dataset,
    ],
    [`DELETE /api/v1/json/data/61?api_key=${alice}`, none, dataset],
    ["PUT /api/v1/json/data/61", form({}), dataset],
    // Ids are digits: clients that read by POST send nothing else.
    ["POST /api/v1/json/data/61.0", form({}), datasets],
    // It adds a dataset: no other dataset changes.
    ["POST /api/v1/json/data", parts({ description: "<oml:data_set_description/>" }), ["listDatasets"]],
    ["POST /api/v1/json/data", parts({ description: "x".repeat(70_000) }), ["listDatasets"]],
    // The request does not name the dataset for certain, so it may be any.
    ["POST /api/v1/json/data/tag", form({ data_id: "61abc", tag: "a" }), datasets],
    // PHP takes each of these for `data_id`.
    ["POST /api/v1/json/data/tag", form({ "data.id": "61", tag: "a" }), dataset],
    ["POST /api/v1/json/data/tag", form({ data_id: "62", "data.id": "61", tag: "a" }), datasets],
    ["POST /api/v1/json/data/tag", parts({ data_id: "62", "data.id": "61", tag: "a" }), datasets],
    ["POST /api/v1/json/data/tag?data+id=62", form({ data_id: "61", tag: "a" }), datasets],
    ["POST /api/v1/json/data/tag", form({ data_id: "61", my_data_id: "62", data_ids: "62", tag: "a" }), dataset],
    ["POST /api/v1/json/data/tag", form({ padding: "x".repeat(70_000), data_id: "61", tag: "a" }), datasets],
    ["POST /api/v1/json/setup/tag", form({ setup_id: "3", tag: "a" }), ["getSetup"]],
    ["POST /api/v1/json/study/status/update", form({ study_id: "99", status: "active" }), ["getStudy"]],
    ["POST /api/v1/json/study/sample-suite/detach", form({ ids: "1" }), ["getStudy"]],
    ["POST /api/v1/json/study/98/attach", form({ ids: "1,2" }), []],
    [`DELETE /api/v1/json/study/99?api_key=${alice}`, none, ["getStudy"]],
    ["POST /api/v1/json/flow", parts({ description: "<oml:flow/>" }), []],
    // A deleted flow deletes its setups and runs, and removes them from studies.
    [`DELETE /api/v1/json/flow/12?api_key=${alice}`, none, ["getSetup", "getStudy", "otherSetup"]],
    [`DELETE /api/v1/json/flow/12/force?api_key=${alice}`, none, ["getSetup", "getStudy", "otherSetup"]],
    [`DELETE /api/v1/json/run/1?api_key=${alice}`, none, ["getStudy"]],
    [`DELETE /api/v1/json/task/1?api_key=${alice}`, none, ["getStudy"]],
    ["DELETE /api/v1/json/flow/12", none, []],
    ["POST /api/v1/json/task/tag", form({ task_id: "61", tag: "a" }), []],
    ["POST /nowhere/data", form({ data_id: "61" }), []],
    // A read.
    ["GET /api/v1/json/data/61", { headers: {}, body: "" }, []],
    ["POST /api/v1/json/flow/exists", form({ name: "a", external_version: "1" }), []],
    ["POST /api/v1/json/data/list/limit/5", form({}), []],
  ])("passed through: %s %#", async (line, { headers, body }, expected) => {
    const { ask, invalidated } = await filledGateway();
    const [method = "", path = ""] = line.split(" ");
    await ask(path, { ...headers }, { method, ...(method === "GET" || body === "" ? {} : { body }) });
    expect(await invalidated()).toEqual(expected.toSorted());
  });

  test("a 404 is invalidated by a write that adds to its kind", async () => {
    const { legacy, ask } = await cachedGateway();
    legacy.gone = true;
    for (const path of ["/v1/setup/3", "/v1/datasets/61"])
      expect((await ask(path)).how).toMatch(/stored; ttl=(60|59)$/);
    legacy.gone = false;
    await ask("/api/v1/json/run", {}, { method: "POST", ...parts({ description: "<oml:run/>" }) });
    expect([(await ask("/v1/setup/3")).status, (await ask("/v1/datasets/61")).status]).toEqual([200, 404]);
    await ask("/api/v1/json/data", {}, { method: "POST", ...parts({ description: "<oml:x/>" }) });
    expect((await ask("/v1/datasets/61")).status).toBe(200);
  });

  test.each<[string, string, Record<string, string>]>([
    ["without a key", "json", {}],
    ["with a wrong key", "json", { api_key: "c".repeat(32) }],
    ["with a wrong key, as XML", "xml", { api_key: "c".repeat(32) }],
    ["with a wrong key, in gzip", "xml", { api_key: "c".repeat(32), coded: "gzip" }],
    ["with a wrong key, in br", "xml", { api_key: "c".repeat(32), coded: "br" }],
    ["with a wrong key, in deflate", "xml", { api_key: "c".repeat(32), coded: "deflate" }],
    ["with a wrong key, in zstd", "xml", { api_key: "c".repeat(32), coded: "zstd" }],
  ])("no caller empties the cache %s", async (_, as, fields) => {
    const { ask, post, invalidated } = await filledGateway();
    const body = new URLSearchParams({ data_id: "61", tag: "a", ...fields });
    expect((await ask(`/api/v1/${as}/data/tag`, {}, { method: "POST", body })).status).toBe(412);
    expect((await post("/v1/datasets/tag", { data_id: 61, tag: "a" }, { "X-API-Key": "c".repeat(32) })).status).toBe(
      401,
    );
    expect(await invalidated()).toEqual([]);
  });

  test("a write that legacy refuses before it reads it invalidates nothing", async () => {
    const { post, as, invalidated } = await filledGateway();
    for (const [json, key] of [
      [{ data_id: 61, tag: "a b" }, alice],
      [{ data_id: 61, tag: "a" }, "0"],
    ] as const)
      expect((await post("/v1/datasets/tag", json, as(key))).status).toBeGreaterThan(400);
    expect(await invalidated()).toEqual([]);
  });
});

describe("a read that runs while a write comes", () => {
  test.each([
    ["on the new interface", "/v1/datasets/tag"],
    ["passed through", "/api/v1/json/data/tag"],
  ])("a read that runs while a write comes does not bring the old value back: %s", async (_, path) => {
    const { legacy, ask, post, as, core } = await cachedGateway();
    const release = legacy.hold();
    const reading = ask("/v1/datasets/61");
    await until(() => legacy.asked.length === 1);
    legacy.gate = undefined;
    const written = path.startsWith("/v1")
      ? await post(path, { data_id: 61, tag: "a" }, as(alice))
      : await passing(ask, path, { data_id: "61", tag: "a" });
    expect(written.status).toBe(200);
    // Requests after the write's answer wait for the old read, and then ask once more, together.
    const later = [ask("/v1/datasets/61"), ask("/v1/datasets/61")];
    await until(async () => (await coalesced(core)) === 2);
    release();
    expect(markOf((await reading).body)).toBe("nobody 1");
    expect((await Promise.all(later)).map(({ body }) => markOf(body))).toEqual(["nobody 2", "nobody 2"]);
    const after = await ask("/v1/datasets/61");
    expect([markOf(after.body), after.how]).toEqual(["nobody 2", expect.stringMatching(/^hit/)]);
  });

  test("a read of another entity that ran when a write came is stored", async () => {
    const { legacy, ask, post, as } = await cachedGateway();
    const release = legacy.hold();
    const reading = ask("/v1/datasets/62");
    await until(() => legacy.asked.length === 1);
    legacy.gate = undefined;
    await post("/v1/datasets/tag", { data_id: 61, tag: "a" }, as(alice));
    release();
    await reading;
    expect((await ask("/v1/datasets/62")).how).toMatch(/^hit/);
  });

  test("after a write whose answer is lost, no answer is cached for a while", async () => {
    const { legacy, ask, post, as } = await cachedGateway({ TOTAL_TIMEOUT_MS: "300" });
    await ask("/v1/datasets/61");
    await ask("/v1/datasets/abc", as(alice));
    const release = legacy.hold();
    expect((await post("/v1/datasets/tag", { data_id: 61, tag: "a" }, as(alice))).status).toBe(504);
    legacy.gate = undefined;
    release();
    for (let i = 0; i < 2; i++) expect((await ask("/v1/datasets/61")).how).toMatch(/^fwd=stale; ttl/);
    expect((await ask("/v1/datasets/62")).how).toMatch(/stored/);
    legacy.mode = "down";
    expect((await ask("/v1/datasets/61")).how).toMatch(/stale-if-error/);
  });

  test.each([
    ["that legacy has just accepted", true],
    ["that legacy is asked about then", false],
  ])("a client that leaves in the middle of its write, with a key %s", async (_, isProven) => {
    const { legacy, ask, as, clients } = await cachedGateway();
    await ask("/v1/datasets/61");
    if (isProven) await ask("/v1/datasets/abc", as(alice));
    const asked = legacy.asked.length;
    const release = legacy.hold();
    const leaving = new AbortController();
    const write = passing(ask, "/api/v1/json/data/tag", { data_id: "61", tag: "a" }, leaving.signal);
    const left = write.catch((error: Error) => error.name);
    await until(() => legacy.asked.length === asked + 1);
    legacy.gate = undefined;
    const before = await clients();
    leaving.abort();
    expect(await left).toBe("AbortError");
    // Until the gateway has noticed that it left.
    await until(async () => (await clients()) < before);
    await settled();
    release();
    for (let i = 0; i < 2; i++) {
      const { body, how } = await ask("/v1/datasets/61");
      expect([markOf(body), how]).toEqual(["nobody 2", expect.stringMatching(/^fwd=stale; ttl/)]);
    }
  });
});
