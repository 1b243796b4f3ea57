import { expect, test } from "vitest";
import { readPairs } from "../../../fixtures/pairs.ts";
import about from "../../../package.json" with { type: "json" };
import { openApiDocument } from "../../../libraries/openapi/openApiDocument.ts";
import { endpoints } from "../../../transforms/index.ts";
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

test("every tag of the OpenAPI document has a description", () => {
  const { tags } = JSON.parse(text) as { tags: { name: string; description?: string }[] };
  expect(tags.length).toBeGreaterThan(0);
  for (const { name, description } of tags) expect(description).toContain(`/${name}`);
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

test("an OpenAPI operation names the statuses of its fixtures, except 410", () => {
  const left = new Set<number>();
  for (const { operationId, answers } of document.operations) {
    expect(answers.has(0)).toBe(true);
    for (const { answer } of readPairs(operationId)) if (!answers.has(answer.status)) left.add(answer.status);
  }
  expect([...left]).toEqual([410]);
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
