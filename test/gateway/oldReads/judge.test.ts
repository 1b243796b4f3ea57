import { describe, expect, test } from "vitest";
import { idOfKey } from "../../../src/operation/telemetry/requestCaller.ts";
import type { Exchange } from "../../../fixtures/exchange.ts";
import { readPairs } from "../../../fixtures/pairs.ts";
import { parseJson } from "../../../src/catalogue/rules/parseJson.ts";
import { sampleCatalogue } from "../../../tools/sampleLegacy/catalogue.ts";
import { valueOf } from "../../support/metrics.ts";
import { clock } from "../cache/support.ts";
import { recordingUpstream } from "../http/support.ts";
import { samplePaths, startSample } from "./sample.ts";
import { ownCaller } from "../../../src/gateway/upstream/legacyClient.ts";
import { alice, cachingOver, error, minute } from "./support.ts";

const { key = "" } = sampleCatalogue.users[0] ?? {};

/** The answers of 200 to reads without a key, among all fixtures: each path with each of its answers once. */
const recorded = () => {
  const answers = new Map<string, { name: string; path: string; response: Exchange["response"] }>();
  for (const { endpoint, example, legacy } of readPairs())
    for (const { request, response } of legacy) {
      if (request.method !== "GET" || request.key !== undefined || response.status !== 200) continue;
      const path = `/api/v1${request.path}`;
      const id = `${path} ${response.body}`;
      if (!answers.has(id)) answers.set(id, { name: `${endpoint} ${example} (${response.type})`, path, response });
    }
  return [...answers.values()];
};

/** Reasons that keep answers out of the cache, besides JSON that does not parse and pages. */
const reasons: Record<string, readonly string[]> = {
  "its XML does not parse": [
    "getDataset answer-cut-off (xml)",
    "getDataset form-feed-breaks-the-xml (xml)",
    "getDataset php-notice-both-forms-broken (xml)",
    "getRun both-forms-broken (xml)",
    "getRunTrace both-forms-broken (xml)",
    "getSetup both-forms-broken (xml)",
    "getStudy both-forms-broken (xml)",
    "getStudy description-markup-xml-broken (xml)",
    "getTask php-notices-of-another-kind (xml)",
    "listDatasets answer-cut-off (xml)",
    "listDatasets both-forms-broken (xml)",
    "listEvaluations name-that-breaks-the-xml (xml)",
    "listEvaluationsWithSetups name-that-breaks-the-xml (xml)",
    "listFlows both-forms-broken (xml)",
    "listRuns both-forms-broken-by-two-rows (xml)",
    "listRuns message-that-no-form-shows (xml)",
    "listSetups both-forms-broken (xml)",
    "listStudies name-with-legacy-element (xml)",
    "listTasks row-broken-in-both-forms (xml)",
  ],
  "it is about another entity": ["getDataset another-dataset (json)"],
  "a member is missing, or its root": [
    "findFlow neither-id-nor-denial (json)",
    "getDataset another-json (json)",
    "getDatasetFeatures another-json (json)",
    "getDatasetQualities another-json (json)",
    "getFlow another-json (json)",
    "getRun another-json (json)",
    "getRun another-json (xml)",
    "getRunTrace another-json (json)",
    "getRunTrace another-json (xml)",
    "getSetup another-json (json)",
    "getTask another-json (json)",
    "getTaskType another-json (json)",
    "listDatasets another-json (json)",
    "listQualities another-json (json)",
    "listStudies another-json (json)",
    "listStudies another-json (xml)",
  ],
  "a text may be read as a part of it": ["listRuns message-that-forges-a-row (json)"],
  "its path has escapes": ["listDatasets data-name-with-blanks (json)", "listTasks every-filter (json)"],
};

test("each recorded 200 is stored, or listed here with its reason", async () => {
  let current: Exchange["response"] | undefined;
  const legacy = await recordingUpstream(
    () =>
      current && {
        body: current.body,
        headers: { "Content-Type": current.type === "json" ? "application/json" : "text/xml" },
      },
  );
  const { ask } = await cachingOver(legacy);
  const unstored: string[] = [];
  for (const { name, path, response } of recorded()) {
    // Pages, and PHP's notices before JSON, are no document.
    if (response.type === "html" || (response.type === "json" && parseJson(response.body) === undefined)) continue;
    current = response;
    // The entry of its path is bypassed.
    const { how } = await ask(path, { "Cache-Control": "no-cache" });
    if (!how.includes("stored")) unstored.push(name);
  }
  expect(unstored.toSorted()).toEqual(Object.values(reasons).flat().toSorted());
});

test("each 200 of the sample legacy is stored, in both forms, except unparsable JSON", async () => {
  const { ask } = await cachingOver(await startSample());
  const unstored = [];
  for (const { path } of samplePaths()) {
    const { status, body, how } = await ask(path);
    const isBroken = path.includes("/json/") && parseJson(body) === undefined;
    if (status === 200 && !isBroken && !/stored|hit/.test(how)) unstored.push(path);
  }
  expect(unstored).toEqual([]);
});

describe("a list without a limit", () => {
  const study = {
    main_entity_type: "task",
    name: "a",
    status: "active",
    creation_date: "2020-01-02 03:04:05",
    creator: 1,
  };
  const run = { task_id: 1, setup_id: 1, flow_id: 1, uploader: 1, upload_time: "2020-01-02 03:04:05" };
  const rowsOf = (row: object, id: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ [id]: i + 1, ...row }));

  test.each([
    ["study/list", (count: number) => ({ study_list: { study: rowsOf(study, "id", count) } })],
    ["study/list/status/all", (count: number) => ({ study_list: { study: rowsOf(study, "id", count) } })],
    [
      "run/list/task/1",
      (count: number) => ({
        runs: { run: rowsOf({ ...run, error_message: "", run_details: "" }, "run_id", count) },
      }),
    ],
  ])("%s is stored, however many rows it has; one with more rows than its limit is not", async (path, documentOf) => {
    const legacy = await recordingUpstream(() => ({ body: JSON.stringify(documentOf(101)) }));
    const { ask } = await cachingOver(legacy);
    expect((await ask(`/api/v1/json/${path}`)).how).toMatch(/stored/);
    expect((await ask(`/api/v1/json/${path}/limit/101`)).how).toMatch(/stored/);
    expect((await ask(`/api/v1/json/${path}/limit/100`)).how).toBe("fwd=uri-miss");
  });
});

describe("an answer in which single values do not fit", () => {
  const evaluation = {
    run_id: 1,
    task_id: 1,
    setup_id: 1,
    flow_id: 1,
    flow_name: "f",
    data_name: "d",
    function: "area_under_roc_curve",
    upload_time: "2021-01-01 10:00:00",
    value: 0.8,
  };
  const { run_id: _, ...withoutRun } = evaluation;
  const parameter = {
    id: 5,
    flow_id: 2,
    flow_name: "f",
    full_name: "f_B",
    parameter_name: "B",
    data_type: "option",
    default_value: "",
    value: "1",
  };
  const { id: _id, ...withoutId } = parameter;
  const list = (...rows: object[]) => ({ evaluations: { evaluation: rows } });
  const study = {
    id: "14",
    main_entity_type: "task",
    name: "a",
    description: { b: "html", value: "with  inside" },
    visibility: "public",
    status: "active",
    creation_date: "2021-02-03T04:05:06",
    creator: "1",
    data: { data_id: "1" },
    tasks: { task_id: "1" },
  };
  const { id: _study, ...withoutStudy } = study;
  const evaluations = "evaluation/list/task/1/limit/10";
  const setups = "evaluation/setup/list/task/1/limit/10";

  const stored: [about: string, path: string, document: object][] = [
    ["an array with no number", evaluations, list({ ...evaluation, array_data: [0.25, "?"] })],
    ["parameters that are a list themselves", setups, list({ ...evaluation, parameters: [parameter, parameter] })],
    ["a text that came as an object", "study/14", { study }],
    ["a text that came as an object, by a name", "study/some-name", { study }],
  ];
  const passing: [about: string, path: string, document: object][] = [
    ["a row without a member", evaluations, list(evaluation, { ...withoutRun, array_data: ["?"] })],
    ["a row that is none", evaluations, list(evaluation, ["?"])],
    ["a part of a row without a member", setups, list({ ...evaluation, parameters: [parameter, withoutId] })],
    ["a record without a member", "study/14", { study: withoutStudy }],
    ["another root", "study/14", { other: study }],
    ["another root of a list", evaluations, { evaluations: { other: [evaluation] } }],
  ];

  test.each(stored)("is stored: %s", async (_about, path, document) => {
    const { ask } = await cachingOver(await recordingUpstream(() => ({ body: JSON.stringify(document) })));
    const target = `/api/v1/json/${path}`;
    const { body } = await ask(target);
    expect(await ask(target)).toMatchObject({ body, how: expect.stringContaining("hit") });
  });

  test.each(passing)("is not stored: %s", async (_about, path, document) => {
    const { ask } = await cachingOver(await recordingUpstream(() => ({ body: JSON.stringify(document) })));
    expect((await ask(`/api/v1/json/${path}`)).how).toBe("fwd=uri-miss");
  });

  test.each(["study/14", "study/some-name"])("is invalidated by a write: %s", async (path) => {
    const { ask } = await cachingOver(await recordingUpstream(() => ({ body: JSON.stringify({ study }) })));
    const target = `/api/v1/json/${path}`;
    await ask(target);
    const body = new URLSearchParams({ api_key: "a".repeat(32), ids: "1" });
    await ask("/api/v1/json/study/14/attach", {}, { method: "POST", body });
    expect((await ask(target)).how).toMatch(/^fwd=uri-miss; stored/);
  });

  test("a run that is not evaluated yet is fresh for 15 s then, too", async () => {
    const run = { run_id: "1", task_id: "1", setup_string: { b: "x" } };
    const { ask } = await cachingOver(await recordingUpstream(() => ({ body: JSON.stringify({ run }) })));
    expect((await ask("/api/v1/json/run/1")).how).toMatch(/stored; ttl=1[45]$/);
  });
});

describe("a study of tags, which the new interface no longer has", () => {
  const forms = ["/api/v1/json/study/10", "/api/v1/xml/study/10"];
  /** Both forms, stored. */
  const stored = async () => {
    const { pass } = clock();
    const gateway = await cachingOver(await startSample());
    const bodies: string[] = [];
    for (const path of forms) {
      const { status, body, how } = await gateway.ask(path);
      expect([status, how]).toEqual([200, "fwd=uri-miss; stored; ttl=60"]);
      bodies.push(body);
    }
    return { ...gateway, pass, bodies };
  };

  test("is fresh for a minute, and served stale for a week while legacy fails", async () => {
    const { legacy, ask, pass, bodies } = await stored();
    for (const path of forms) expect((await ask(path)).how).toMatch(/^hit/);
    pass(minute);
    for (const path of forms) expect((await ask(path)).how).toBe("fwd=stale; stored; ttl=60");
    legacy.isDown = true;
    pass(7 * 24 * 60 * minute);
    for (const [i, path] of forms.entries())
      expect(await ask(path)).toMatchObject({
        status: 200,
        body: bodies[i],
        how: expect.stringContaining("stale-if-error"),
      });
    pass(2 * minute);
    for (const path of forms) expect((await ask(path)).status).toBe(502);
  });

  test("stays gone on the new interface", async () => {
    const { ask } = await stored();
    for (let i = 0; i < 2; i++) expect((await ask("/v1/studies/10")).status).toBe(410);
  });

  test.each([
    ["data", "1"],
    ["task", "1"],
    ["flow", "101"],
    ["setup", "1"],
    ["run", "1"],
  ])("is stale after a tag of %s, and then served only while legacy fails", async (kind, id) => {
    const { legacy, ask } = await stored();
    const tag = (name: string) => {
      const body = new URLSearchParams({ api_key: key, [`${kind}_id`]: id, tag: name });
      return ask(`/api/v1/json/${kind}/tag`, {}, { method: "POST", body });
    };
    expect((await tag("one")).status).toBe(200);
    for (const path of forms) expect((await ask(path)).how).toBe("fwd=stale; stored; ttl=60");
    expect((await tag("two")).status).toBe(200);
    legacy.isDown = true;
    for (const path of forms) expect((await ask(path)).how).toContain("stale-if-error");
  });
});

describe("an error of legacy is recognized by its code", () => {
  const dataset = '{"data_set_description":{"id":"61","name":"iris","format":"ARFF"}}';
  const [old, new_] = ["/api/v1/json/data/61", "/v1/datasets/61"];
  /** A gateway that has stored a dataset for both interfaces, which legacy has withdrawn since, with this status. */
  const withdrawn = async (code: number, status: number) => {
    const { pass } = clock();
    const legacy = { isWithdrawn: false };
    const { url, seen } = await recordingUpstream(({ target }) => {
      if (!target.includes("/data/61")) return undefined;
      return legacy.isWithdrawn ? { status, body: error(code) } : { body: dataset };
    });
    const gateway = await cachingOver({ url });
    for (const path of [old, new_]) expect((await gateway.ask(path)).how).toContain("stored");
    legacy.isWithdrawn = true;
    pass(120 * minute);
    seen.splice(0);
    return { ...gateway, seen };
  };
  const ill = ({ observer }: { observer: { counts: () => Record<string, number> } }) =>
    observer.counts()["legacy_ill getDataset"];

  test.each([
    [111, 404, 404, "fwd=stale; stored; ttl=60"],
    [111, 400, 404, "fwd=stale; stored; ttl=60"],
    [111, 410, 404, "fwd=stale; stored; ttl=60"],
    [112, 401, 403, "fwd=stale"],
    [112, 403, 403, "fwd=stale"],
    [112, 422, 403, "fwd=stale"],
  ])("code %i is legacy's answer with status %i too: the entry is invalidated", async (code, status, ours, how) => {
    const gateway = await withdrawn(code, status);
    expect(await gateway.ask(old)).toMatchObject({ status, body: error(code), how });
    expect(await gateway.ask(new_)).toMatchObject({ status: ours, how });
    expect(ill(gateway)).toBeUndefined();
    expect(await valueOf(gateway.core.meter, "old_reads_failed_total")).toBe(0);
  });

  test.each([
    [429, 503],
    [502, 502],
    [503, 503],
    [504, 502],
  ])("status %i is a front's, even with a code: the stored answer is served", async (status, ours) => {
    const gateway = await withdrawn(111, status);
    expect(await gateway.ask(old)).toMatchObject({ status: 200, body: dataset });
    expect((await gateway.ask(new_)).status).toBe(200);
    expect((await gateway.ask(new_, { "Cache-Control": "no-cache" })).status).toBe(ours);
    expect(ill(gateway)).toBeGreaterThan(0);
  });

  test("a key that is refused with a front's status is not known as refused", async () => {
    const { url } = await recordingUpstream(() => ({ status: 502, body: error(103) }));
    const { ask, core } = await cachingOver({ url });
    expect((await ask(new_, { "X-API-Key": alice })).status).toBe(502);
    expect(core.keys.wasRefused(idOfKey(alice))).toBe(false);
    expect((await core.keys.verify({ ...ownCaller(1000), key: alice }, false))?.kind).toBe("broken");
    expect(core.keys.wasRefused(idOfKey(alice))).toBe(false);
  });
});

test("the absence of a flow is cached for a minute, and never served stale", async () => {
  const { pass } = clock();
  const { legacy, ask } = await cachingOver(await startSample());
  const path = "/api/v1/json/flow/exists/no.such.flow/1";
  expect(await ask(path)).toMatchObject({ status: 200, how: "fwd=uri-miss; stored; ttl=60" });
  legacy.isDown = true;
  pass(2 * minute);
  expect((await ask(path)).status).toBe(502);
});
