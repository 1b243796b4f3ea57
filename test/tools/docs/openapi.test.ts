import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { readPairs } from "../../../fixtures/pairs.ts";
import about from "../../../package.json" with { type: "json" };
import { openApiText } from "../../../src/tools/docs/openapi.ts";
import { errorStatuses } from "../../../src/openapi/errorResponses.ts";
import { endpoints } from "../../../transforms/index.ts";
import { openSchemas } from "../../openapi/schemas.ts";

const text = readFileSync("docs/openapi.json", "utf8");

test("docs/openapi.json is that of the definitions (npm run docs makes it)", () => {
  expect(text).toBe(openApiText({ version: about.version, prefix: "/v1", endpoints, pairs: readPairs() }));
});

test("docs/openapi.json is a valid document of OpenAPI 3.1", async () => {
  const validator = new Validator();
  expect(await validator.validate(text)).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("the schemas of answers name no field that is dropped", () => {
  const { components } = JSON.parse(text) as { components: { schemas: Record<string, object> } };
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

test("the description of a field says what its rules do to it", () => {
  const { components } = JSON.parse(text) as { components: { schemas: Record<string, { properties: object }> } };
  expect(components.schemas["getTask"]?.properties).toMatchObject({
    id: { description: "`task_id` in the legacy interface." },
    tags: { description: "In no particular order. `tag` in the legacy interface." },
  });
  expect(components.schemas["getDataset"]?.properties).toMatchObject({
    parquet_url: { description: "Absent where it has no value. Present only where `format` is `arff`." },
    format: { anyOf: [{ description: "In lower case." }, { type: "null" }] },
  });
});

test("an endpoint documents its fixtures' statuses, 410 only where one has it", () => {
  for (const [name, endpoint] of Object.entries(endpoints)) {
    const inFixtures = readPairs(name).map(({ expected }) => expected.status);
    const documented = errorStatuses(
      endpoint,
      endpoint.routes.some((route) => route.startsWith("POST")) ? "post" : "get",
    );
    const missing = inFixtures.filter((status) => status >= 400 && !documented.includes(status));
    expect([name, new Set(missing), documented.includes(410)]).toEqual([name, new Set(), inFixtures.includes(410)]);
  }
});

test("every operation has an example of its answer, and every example fits its schema", () => {
  const { document, validate } = openSchemas(text);
  const wrong: unknown[] = [];
  for (const operation of document.operations) {
    expect([operation.operationId, operation.answers.get(200)?.content["application/json"]?.example]).not.toContain(
      undefined,
    );
    for (const [status, { content }] of operation.answers)
      for (const [type, { example, schema }] of Object.entries(content))
        if (!validate(schema, example)) wrong.push([operation.operationId, status, type]);
    const { body } = operation;
    if (body !== undefined && !validate(body.schema, body.example)) wrong.push([operation.operationId, "body"]);
  }
  expect(wrong).toEqual([]);
});
