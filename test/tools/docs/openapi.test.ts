import { expect, onTestFinished, test } from "vitest";
import { readPairs } from "../../../fixtures/pairs.ts";
import about from "../../../package.json" with { type: "json" };
import { openApiDocument } from "../../../libraries/openapi/openApiDocument.ts";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { endpoints } from "../../../transforms/index.ts";
import { keys } from "../../gateway/answer/support.ts";
import { listeningGateway } from "../../gateway/http/support.ts";
import { openApiErrors, openSchemas } from "../../libraries/openapi/schemas.ts";

const text = JSON.stringify(openApiDocument({ version: about.version, prefix: "/v1", endpoints }));
const { components } = JSON.parse(text) as { components: { schemas: Record<string, { properties: object }> } };
const { document, validate } = openSchemas(text);

test("the OpenAPI document is valid 3.1, and not larger than 4 KB an endpoint", () => {
  expect(openApiErrors(JSON.parse(text))).toEqual([]);
  expect(openApiErrors({ openapi: "3.1.1", paths: {} })).toEqual([" must have required property 'info'"]);
  expect(text.length).toBeLessThan(4000 * Object.keys(endpoints).length);
});

test("OpenAPI has one operation an endpoint, which names its other routes", () => {
  expect(document.operations.map(({ operationId }) => operationId).toSorted()).toEqual(
    Object.keys(endpoints).toSorted(),
  );
  for (const { routes } of Object.values(endpoints))
    for (const route of routes.slice(1)) expect(text).toContain(`\`${route}\``);
});

test("OpenAPI's schemas of answers name no field that is dropped", () => {
  for (const [name, field] of [
    ["getFlow", "licence"],
    ["getFlow", "creator"],
    ["getRun", "error_message"],
    ["getDatasetFeatures", "nominal_value"],
    ["listDatasets", "uploader"],
  ] as const)
    expect(JSON.stringify([name, components.schemas[name], components.schemas[`${name}___schema0`]])).not.toContain(
      `"${field}":`,
    );
});

test("OpenAPI's description of a field says what its rules do to it", () => {
  expect(components.schemas["getTask"]?.properties).toMatchObject({
    id: { description: "`task_id` in the legacy interface." },
    tags: { description: "In no particular order. `tag` in the legacy interface." },
  });
  expect(components.schemas["getDataset"]?.properties).toMatchObject({
    parquet_url: { description: "Present only where `format` is `arff`." },
    format: { anyOf: [{ description: "In lower case." }, { type: "null" }] },
  });
});

test("OpenAPI documents the status and the shape of each fixture's answer", () => {
  const wrong: unknown[] = [];
  for (const { operationId, answers } of document.operations)
    for (const { example, answer } of readPairs(operationId)) {
      const { schema } = (answers.get(answer.status) ?? answers.get(0))?.content["application/json"] ?? {};
      if (schema === undefined || !validate(schema, answer.body)) wrong.push([operationId, example, answer.status]);
      // 410 stands under `default`.
      if (!answers.has(answer.status) && answer.status !== 410) wrong.push([operationId, example, answer.status]);
    }
  expect(wrong).toEqual([]);
});

/** Reasons to refuse a body that no schema can say. Those that are legacy's have a code. */
const beyondSchemas = /ensure the range goes from low to high|the field was given before|characters together|"code"/;

test("the body of a fixture fits OpenAPI's schema, unless its answer is 422", () => {
  const wrong: unknown[] = [];
  let refused = 0;
  for (const { operationId, body } of document.operations)
    for (const { example, ask, legacy, answer } of readPairs(operationId)) {
      if (body === undefined || ask.json === undefined || ask.method !== "POST") continue;
      const isRefused = answer.status === 422;
      // Legacy has refused it, not the gateway.
      if ((isRefused && legacy.length > 0) || beyondSchemas.test(JSON.stringify(answer.body))) continue;
      if (isRefused) refused++;
      if (validate(body.schema, ask.json) === isRefused) wrong.push([operationId, example]);
    }
  expect(wrong).toEqual([]);
  expect(refused).toBeGreaterThan(0);
});

/** Headers that HTTP has for every message. */
const ofHttp = new Set(["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"]);

test("OpenAPI documents a 304, and every header of a hit, a miss and a write", async () => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  const { url } = await listeningGateway(legacy.url);
  const headers = { "Content-Type": "application/json", "X-API-Key": keys.user, Origin: "https://page.example" };
  const asked: [operation: string, path: string, body?: string][] = [
    ["getDataset", "/datasets/61"],
    ["getDataset", "/datasets/61"],
    ["listDatasets", "/datasets/list", '{"limit": 5}'],
    ["tagDataset", "/datasets/tag", '{"data_id": 61, "tag": "conform"}'],
  ];
  for (const [name, path, body] of asked) {
    const init = body === undefined ? { headers: { Origin: headers.Origin } } : { method: "POST", headers, body };
    const { status, headers: given } = await fetch(`${url}/v1${path}`, init);
    const documented = document.operations.find(({ operationId }) => operationId === name)?.answers.get(200)?.headers;
    const unknown = [...given.keys()].filter((header) => !ofHttp.has(header) && documented?.has(header) !== true);
    expect([name, status, unknown]).toEqual([name, 200, []]);
  }
  const conditional = await fetch(`${url}/v1/datasets/61`, { headers: { "If-None-Match": "*" } });
  expect(conditional.status).toBe(304);
  expect(document.operations.find(({ operationId }) => operationId === "getDataset")?.answers.has(304)).toBe(true);
});

test("every OpenAPI operation has an example of its answer, which fits its schema", () => {
  const wrong: unknown[] = [];
  for (const { operationId, answers, body } of document.operations) {
    expect([operationId, answers.get(200)?.content["application/json"]?.example]).not.toContain(undefined);
    for (const [status, { content }] of answers)
      for (const [type, { example, schema }] of Object.entries(content))
        if (!validate(schema, example)) wrong.push([operationId, status, type]);
    if (body !== undefined && !validate(body.schema, body.example)) wrong.push([operationId, "body"]);
  }
  expect(wrong).toEqual([]);
});
