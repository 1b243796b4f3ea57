import { expect, onTestFinished, test } from "vitest";
import { startSampleLegacy } from "../../tools/sampleLegacy/startSampleLegacy.ts";
import type { Endpoint } from "../../src/catalogue/endpoint/endpoint.ts";
import { lossesOf } from "../../src/catalogue/reading/losses.ts";
import { parseJson } from "../../src/catalogue/rules/parseJson.ts";
import type { JsonObject } from "../../src/catalogue/rules/rule.ts";
import { endpoints } from "../../transforms/index.ts";
import { listeningGateway } from "../gateway/http/support.ts";
import { moveAll, startMovedTo } from "./moving.ts";

/** One request of a client to legacy's interface: `form` is sent as a POST. */
type ClientRequest = { path: string; form?: Record<string, string>; headers?: Record<string, string> };

const key = "DA1A0000000000000000000000000000";
const asPython = { "User-Agent": "openml-python/0.16.0", "Accept-Encoding": "gzip, deflate" };

/** openml-python, V1: XML, its key with every request, pages of 10,000 rows. */
const openmlPython: ClientRequest[] = [
  ...[
    `data/61?api_key=${key}`,
    `data/features/61?api_key=${key}`,
    `data/qualities/61?api_key=${key}`,
    `data/qualities/999999?api_key=${key}`,
    `data/list/limit/10000/offset/0?api_key=${key}`,
    `data/list/data_name/no_such/limit/10000/offset/0?api_key=${key}`,
    `data/list/limit/10000/offset/10000/tag/flowers?api_key=${key}`,
    `data/16?api_key=${key}`,
    `data/999999?api_key=${key}`,
    `data/61?api_key=${"f".repeat(32)}`,
    `setup/1?api_key=${key}`,
    `flow/1?api_key=${key}`,
    `study/1?api_key=${key}`,
    `task/1?api_key=${key}`,
    `evaluationmeasure/list?api_key=${key}`,
    `estimationprocedure/list?api_key=${key}`,
    `flow/exists/weka.ZeroR/Weka_3.9?api_key=${key}`,
  ].map((path) => ({ path: `/api/v1/xml/${path}`, headers: asPython })),
  { path: "/api/v1/xml/data/tag", form: { api_key: key, data_id: "4", tag: "by-a-client" }, headers: asPython },
  { path: "/api/v1/xml/data/tag", form: { api_key: key, data_id: "4", tag: "by-a-client" }, headers: asPython },
  { path: "/api/v1/xml/data/untag", form: { api_key: key, data_id: "4", tag: "by-a-client" }, headers: asPython },
  { path: "/api/v1/xml/flow/exists", form: { api_key: key, name: "a", external_version: "b" }, headers: asPython },
];

/** scikit-learn's `fetch_openml`: JSON without a key; its lists end with a slash or not. */
const scikitLearn: ClientRequest[] = [
  "data/list/data_name/iris/limit/2/status/active/",
  "data/list/data_name/iris/limit/2/data_version/1",
  "data/list/data_name/iris/limit/2/data_version/9",
  "data/list/data_name/iris/limit/2/data_version/9/status/deactivated",
  "data/list/data_name/no_such/limit/2/status/active/",
  "data/61",
  "data/features/61",
  "data/qualities/61",
  "data/999999",
].map((path) => ({ path: `/api/v1/json/${path}`, headers: { "Accept-encoding": "gzip" } }));

/** mlr3oml: JSON, its key in the query, pages of 1,000 rows. */
const mlr3oml: ClientRequest[] = [
  "data/61",
  "data/features/61",
  "data/qualities/61",
  "task/1",
  "flow/1",
  "run/1",
  "study/104",
  "data/list/limit/1000/offset/0",
  "data/list/limit/1000/offset/1000",
  "data/list/number_instances/1..200/limit/1000",
  "setup/list/limit/1000",
].flatMap((path) => [
  { path: `/api/v1/json/${path}` },
  { path: `/api/v1/json/${path}?api_key=${key}`, headers: { "User-Agent": "mlr3oml" } },
]);

/** The requests of clients to legacy's interface, in the order of their public sources. */
const sequences: Readonly<Record<string, ClientRequest[]>> = {
  "openml-python V1": openmlPython,
  "scikit-learn fetch_openml": scikitLearn,
  mlr3oml,
};

/** The parts of an answer that clients read. Sessions and dates differ in any two answers. */
const read = async (origin: string, { path, form, headers = {} }: ClientRequest) => {
  const response = await fetch(origin + path, {
    headers,
    ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) }),
  });
  const names = ["content-type", "content-length", "access-control-allow-origin", "cache-control", "retry-after"];
  const body = Buffer.from(await response.arrayBuffer()).toString("latin1");
  return [path, response.status, body, ...names.map((name) => response.headers.get(name))];
};

test.each(Object.entries(sequences))("%s gets through the gateway what legacy answers", async (_, requests) => {
  // Two of them, since a client also writes.
  const [direct, behind] = [await startSampleLegacy(), await startSampleLegacy()];
  onTestFinished(async () => {
    await direct.close();
    await behind.close();
  });
  const { url } = await listeningGateway(behind.url, { PREFIXES: "/v1,/api/v2" });
  const statuses = new Set<unknown>();
  for (const request of requests) {
    const expected = await read(direct.url, request);
    expect(await read(url, request)).toEqual(expected);
    statuses.add(expected[1]);
  }
  expect(statuses).toContain(200);
  expect(statuses).toContain(412);
});

const losses = Object.assign({}, ...Object.values<Endpoint>(endpoints).map(({ legacyForm }) => legacyForm?.losses));

test("with MOVE_LEGACY, mlr3oml loses only what is named while legacy is down", async () => {
  const [legacy, other] = [await startSampleLegacy(), await startSampleLegacy()];
  onTestFinished(() => other.close());
  const { settings, asked } = await startMovedTo(other.url);
  const gateway = await listeningGateway(legacy.url, settings);
  const direct = [];
  for (const request of mlr3oml) {
    direct.push(await read(legacy.url, request));
    await read(gateway.url, request);
  }
  await moveAll(gateway, "the new interface was not asked");
  await legacy.close();
  for (const [i, [path, status, body]] of direct.entries()) {
    const [, statusNow, bodyNow] = await read(gateway.url, mlr3oml[i] as ClientRequest);
    // Legacy does not escape the names of its lists' JSON.
    const [before = {}, now = {}] = [body, bodyNow].map((text) => parseJson(String(text)) as JsonObject | undefined);
    const lost = Object.keys(before).length === 0 ? [] : lossesOf(before, now);
    expect([path, statusNow, lost.filter((place) => !(place in losses))]).toEqual([path, status, []]);
  }
  expect(Object.keys(asked())).toEqual(expect.arrayContaining(["getStudy", "getRun", "listDatasets", "listSetups"]));
});
