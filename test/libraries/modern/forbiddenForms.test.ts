import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { canonicalRequest } from "../../../libraries/compare/canonicalRequest.ts";
import type { Endpoint } from "../../../src/catalogue/endpoint/endpoint.ts";
import type { Json, JsonObject } from "../../../src/catalogue/rules/rule.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { endpoints } from "../../../transforms/index.ts";
import { keys } from "../../gateway/answer/support.ts";
import { placesOf } from "../../standIn/faults.ts";
import { gatewayFor } from "../../support/gateway.ts";

const all: Record<string, Endpoint> = endpoints;
const stages = Object.fromEntries(Object.keys(all).map((name) => [name, { stage: "modern", share: 0 }]));
const anything = {
  id: "all",
  endpoint: "*",
  path: "/**",
  kind: "*",
  reason: "r",
  owner: "us",
  until: "2999-01-01",
} as const;

let gateway: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  gateway = await open();
});
afterAll(() => gateway.close());

/** Modern's answers by the endpoint's name; all other endpoints answer their example. */
let said: Record<string, Json> = {};
beforeEach(() => void (said = {}));

/**
 * A gateway in stage `modern` whose ledger allows everything, over a new implementation that answers what `said` says,
 * on paths of the endpoints' names.
 */
const open = async () => {
  const sample = await startSampleLegacy();
  const modern = createServer((request, response) => {
    const name = request.url?.split(/[/?]/)[1] ?? "";
    const body = Object.hasOwn(said, name) ? said[name] : all[name]?.exampleAnswer;
    request.resume().once("end", () => {
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
    });
  }).listen(0, "127.0.0.1");
  await once(modern, "listening");
  const url = `http://127.0.0.1:${(modern.address() as AddressInfo).port}`;
  const routes = Object.fromEntries(
    Object.entries(all).map(
      ([
        name,
        {
          routes: [route = ""],
        },
      ]) => [name, route.replace(" /", ` /${name}/`)],
    ),
  );
  const { app, ...opened } = await gatewayFor(
    sample.url,
    { MODERN_URL: url, STAGES: JSON.stringify(stages), MODERN_ROUTES: JSON.stringify(routes), CACHE_BYTES: "0" },
    { expected: [anything] },
  );
  /** Asks the gateway for an answer to this input. */
  const ask = async (name: string, input: Record<string, Json> = firstExample(name)) => {
    const endpoint = all[name] as Endpoint;
    const { method, path, body } = canonicalRequest({ ...endpoint, modern: {} }, input);
    const headers = { "X-API-Key": keys.owner, "Content-Type": "application/json" };
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await app.request(`/v1${path}`, init);
    const backend = /backend=(\w+)/.exec(response.headers.get("gateway-decision") ?? "")?.[1];
    return { status: response.status, backend, body: (await response.json()) as Json };
  };
  const close = async () => {
    await opened.close();
    await sample.close();
    modern.closeAllConnections();
    modern.close();
  };
  return { ask, close };
};

const firstExample = (name: string): Record<string, Json> => Object.values(all[name]?.examples ?? {})[0] ?? {};

const exampleOf = (name: keyof typeof endpoints) => all[name]?.exampleAnswer as JsonObject;
const dataset = exampleOf("getDataset");
const study = exampleOf("getStudy");
const without = (document: JsonObject, field: string): JsonObject => {
  const { [field]: _, ...others } = document;
  return others;
};
const tags = (id: Json, tag?: Json) => ({ data_tag: { id, ...(tag === undefined ? {} : { tag }) } });
const [procedure] = endpoints.listEstimationProcedures.exampleAnswer as [JsonObject];

test.each<[title: string, endpoint: string, given: Json, ours: Json]>([
  ["a field is missing", "getDataset", without(dataset, "language"), { ...dataset, language: null }],
  ["a list is missing", "getDataset", without(dataset, "tag"), { ...dataset, tag: [] }],
  ["a text is empty", "getDataset", { ...dataset, language: "" }, { ...dataset, language: null }],
  ["an id is a text", "getDataset", { ...dataset, id: "61" }, dataset],
  ["a list is a text", "getDataset", { ...dataset, creator: "A" }, { ...dataset, creator: ["A"] }],
  ["creators stand in one text", "getDataset", { ...dataset, creator: ["A, B"] }, { ...dataset, creator: ["A", "B"] }],
  ["a format is in capitals", "getDataset", { ...dataset, format: "ARFF" }, dataset],
  [
    "a date has a blank",
    "getDataset",
    { ...dataset, processing_date: "2020-01-01 00:00:00" },
    { ...dataset, processing_date: "2020-01-01T00:00:00" },
  ],
  [
    "a Parquet file stands beside CSV",
    "getDataset",
    { ...dataset, format: "csv" },
    { ...without(dataset, "parquet_url"), format: "csv" },
  ],
  [
    "no Parquet file stands beside CSV",
    "getDataset",
    { ...dataset, format: "csv", parquet_url: null },
    { ...without(dataset, "parquet_url"), format: "csv" },
  ],
  ["ARFF has no Parquet file", "getDataset", without(dataset, "parquet_url"), { ...dataset, parquet_url: null }],
  [
    "a setup has an empty list of parameters",
    "getSetup",
    { setup_parameters: { setup_id: 1, flow_id: 2, parameter: [] } },
    { setup_parameters: { setup_id: 1, flow_id: 2 } },
  ],
  ["legacy's name stands beside ours", "listEstimationProcedures", [{ ...procedure, ttid: 1 }], [procedure]],
  ["legacy's field is dropped", "findFlow", { exists: true, flow_id: "101" }, { flow_id: 101 }],
  [
    "entries of lists are texts",
    "getStudy",
    { ...without(study, "run_ids"), id: "99", data_ids: ["61", 187], task_ids: 59 },
    { ...study, data_ids: [61, 187], task_ids: [59], run_ids: [] },
  ],
  ["a write has an id as text", "tagDataset", tags("1", ["a"]), tags(1, ["a"])],
  ["a write has a tag that is no list", "tagDataset", tags(1, "a"), tags(1, ["a"])],
  ["a write has no tag", "tagDataset", tags("1"), tags(1, [])],
  ["a write has null for no tag", "tagDataset", tags(1, null), tags(1, [])],
])("the rules repair modern's answer: %s", async (_, name, given, ours) => {
  said[name] = given;
  expect(await gateway.ask(name)).toEqual({ status: 200, backend: "modern", body: ours });
});

test.each<[title: string, endpoint: string, given: Json]>([
  ["another dataset", "getDataset", { ...dataset, id: 62 }],
  ["no id", "getDataset", without(dataset, "id")],
  ["an object in place of a text", "getDataset", { ...dataset, language: {} }],
  ["legacy's wrapper", "getDataset", { data_set_description: dataset }],
  ["another study", "getStudy", { ...study, id: 100 }],
  ["another setup", "getSetup", { setup_parameters: { setup_id: 2, flow_id: 2 } }],
  ["legacy's name alone", "listEstimationProcedures", [{ ...without(procedure, "task_type_id"), ttid: 1 }]],
  ["more rows than the limit", "listStudies", Array.from({ length: 6 }, (_, id) => ({ id }))],
  ["null", "listEvaluationMeasures", null],
  ["a text", "listEvaluationMeasures", "kappa"],
  ["a flow's id that is null", "findFlow", { flow_id: null }],
])("legacy answers in place of modern's document that no rule repairs: %s", async (_, name, given) => {
  said[name] = given;
  expect(await gateway.ask(name)).toMatchObject({ status: 200, backend: "legacy" });
});

test.each<[title: string, given: Json]>([
  ["an id that is no number", tags("one", ["a"])],
  ["an id of too many digits", tags("99999999999999999999", ["a"])],
  ["another dataset's id", tags(2, ["a"])],
  ["a tag that is an object", tags(1, { a: "b" })],
  ["nothing at all", {}],
  ["another kind of document", ["a"]],
])("modern's answer to a write that the rules cannot read is 502: %s", async (_, given) => {
  said["tagDataset"] = given;
  expect(await gateway.ask("tagDataset")).toMatchObject({ status: 502, backend: "modern" });
});

const noFlow = [404, { detail: "Flow not found." }] as const;
const noStudy = [410, { detail: "Legacy studies are no longer supported." }] as const;

test.each<[title: string, endpoint: string, given: Json, answer: readonly [status: number, body: Json]]>([
  ["a flow's id -1", "findFlow", { flow_id: -1 }, noFlow],
  ["a flow's id 0", "findFlow", { flow_id: 0 }, noFlow],
  ["a flow that is denied", "findFlow", { exists: false, flow_id: 101 }, noFlow],
  ["one of the studies that are gone", "getStudy", { ...study, id: 41 }, noStudy],
  ["a study of tags", "getStudy", { ...study, tag: ["study_7000"] }, noStudy],
])("modern's document is served as the outcome that it stands for: %s", async (_, name, given, [status, body]) => {
  said[name] = given;
  const input = name === "getStudy" ? { id_or_alias: "an-alias" } : firstExample(name);
  expect(await gateway.ask(name, input)).toEqual({ status, backend: "modern", body });
});

/** The wrong values that are planted in place of a number, and of a list. */
const insteadOf = (value: Json): (Json | undefined)[] => {
  if (typeof value === "number") return [String(value), "x", ""];
  return Array.isArray(value) ? [undefined, null, "", "x", {}, { a: 1 }, ...value.slice(0, 1)] : [];
};

const planted = (document: Json, at: string, value: Json | undefined): Json => {
  const steps = at.split("/").slice(1);
  const last = steps.pop();
  if (last === undefined) return value ?? null;
  const copy = structuredClone(document);
  const within = steps.reduce<Json>((inner, step) => (inner as JsonObject)[step] as Json, copy) as JsonObject;
  if (value === undefined) delete within[last];
  else within[last] = value;
  return copy;
};

test("no number is served as text and no list as another type, even if allowed", async () => {
  const read: string[] = [];
  for (const [name, { output, exampleAnswer = null }] of Object.entries(all))
    for (const { at, value } of placesOf(exampleAnswer))
      for (const other of insteadOf(value)) {
        said[name] = planted(exampleAnswer, at, other);
        const { backend, status, body } = await gateway.ask(name);
        if (backend !== "modern" || status !== 200) continue;
        read.push(name);
        const wrong = (output.schema.safeParse(body).error?.issues ?? []).filter(
          (issue) => issue.code === "invalid_type" && ["number", "array", "object"].includes(issue.expected),
        );
        expect({ name, at, other, wrong }).toEqual({ name, at, other, wrong: [] });
      }
  // A list of texts alone has no such place but the whole document, which is a list or no document.
  const isRead = ({ exampleAnswer }: Endpoint) => !Array.isArray(exampleAnswer) || typeof exampleAnswer[0] !== "string";
  expect([...new Set(read)]).toEqual(Object.keys(all).filter((name) => isRead(all[name] as Endpoint)));
});
