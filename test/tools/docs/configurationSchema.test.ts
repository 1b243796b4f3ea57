import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { configurationSchema } from "../../../tools/docs/configurationSchema.ts";
import { fragments, known, settingsOf } from "../../support/settings.ts";
import { fileWith } from "../../operation/settings/support.ts";

const schema = configurationSchema(fragments, Object.keys(known));
const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true, formats: { "date-time": true } });
const validate = ajv.compile(schema);

describe("the schema of the configuration file", () => {
  const stage = { stage: "shadow", share: 10, gate: { parity: 0.999 } };
  test.each<[isValid: boolean, configuration: Record<string, unknown>]>([
    [true, { $schema: "docs/config.schema.json", PORT: 8000, PREFIXES: ["/v1", "/api/v2"] }],
    [true, { MODERN_URL: "http://127.0.0.1:9000", STAGES: { getDataset: stage }, FORCE_BACKEND: true }],
    [
      true,
      { DEPRECATED: [{ path: "/api/v1/json/data", since: "2026-01-01", sunset: "2027-01-01", successor: "/v1" }] },
    ],
    [true, { BROWNOUTS: [{ path: "/a", from: "2026-12-01T09:00:00Z", until: "2026-12-01T10:00:00Z", status: 503 }] }],
    [false, { PORT: "8000" }],
    [true, { CACHE_LEGACY: "all", PREFIXES: "/v1, /api/v2", TRUSTED_PROXIES: "10.0.0.1" }],
    [false, { PREFIXES: ["v1"] }],
    [false, { STAGES: { getDataset: { stage: "legacy", share: 110 } } }],
    [false, { STAGES: { getNothing: { stage: "legacy" } } }],
    [false, { CACHE_LIFETIMES: { getDataset: { fresh: "5 minutes" } } }],
    [false, { DEPRECATED: [{ path: "a", since: "2026-01-01" }] }],
    [false, { BROWNOUTS: [{ path: "/a", from: "2026-12-01T09:00:00Z", until: "2026-12-01T10:00:00Z", status: 500 }] }],
    [false, { LEGACY_API_KEY: "not a key" }],
    [false, { ADMIN_TOKEN: "hush-hush-hush-hush", ADMIN_TOKEN_FILE: "/x" }],
  ])("the schema and the start agree that it is valid (%s): %j", (isValid, configuration) => {
    expect(validate(configuration)).toBe(isValid);
    expect("settings" in settingsOf({ CONFIG: fileWith(JSON.stringify(configuration)) })).toBe(isValid);
  });

  test("the schema of the configuration file describes each setting", () => {
    const described = Object.entries(schema.properties ?? {}).filter(([name]) => name !== "$schema");
    expect(described.filter(([, property]) => typeof property === "boolean" || !property.description)).toEqual([]);
  });
});
