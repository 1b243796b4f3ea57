import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { settingsHelp } from "../../tools/settingsHelp.ts";
import { settingsByGroup, settingsSchemaOf } from "../../src/operation/settings/settings.ts";
import { errorsIn as errors, expectNamed, fileWith as file, settingsIn } from "../operation/settings/support.ts";
import { fragments } from "../support/settings.ts";

const dataset = (about: object | string) => ({ getDataset: about });
const stages = "one of legacy, shadow, canary, modern";
test.each([
  ["STAGES", dataset({ stage: "shadow", share: 110 }), ".getDataset.share: 110 ", "an integer from 0 to 100"],
  ["STAGES", dataset({ stage: "beta" }), '.getDataset.stage: "beta" ', stages],
  ["STAGES", dataset({}), ".getDataset.stage: nothing ", stages],
  ["STAGES", dataset({ stage: "legacy", gate: { parity: 2 } }), ".getDataset.gate.parity: 2 ", "a number from 0 to 1"],
  ["STAGES", dataset({ stage: "legacy", shares: 5 }), ".getDataset.shares: 5 ", "one of stage, share, gate"],
  ["STAGES", dataset("shadow"), '.getDataset: "shadow" ', "an object with stage, share, gate"],
  ["STAGES", [], ": [] ", "stages by endpoint"],
  ["MODERN_ROUTES", dataset("GET x"), '.getDataset: "GET x" ', "routes such as GET /flows"],
  ["DEPRECATED", [{ path: "/a", since: "x" }], '[0].since: "x" ', "a date such as 2026-01-01"],
  ["DEPRECATED", [{ path: "/a", since: "2026-01-01", until: 1 }], "[0].until: 1 ", "one of path, since, sunset"],
  ["BROWNOUTS", [1], ": [1] ", "a list: times without legacy paths"],
])("a wrong field within %s, as in %j, is named with what is allowed", (name, value, place, allowed) => {
  expectNamed(name, value, place, allowed);
});

test("a stage other than legacy needs MODERN_URL", () => {
  const STAGES = '{"getDataset": {"stage": "canary"}, "getSetup": {"stage": "legacy"}}';
  expect(errors({ STAGES })).toEqual([
    'STAGES.getDataset.stage: "canary" given without MODERN_URL; allowed is "legacy", or any stage where MODERN_URL names the new implementation',
  ]);
  expect(errors({ STAGES, MODERN_URL: "http://127.0.0.1:9000" })).toEqual([]);
});

test.each([
  [{}, 18_000],
  [{ PORT: "8001" }, 18_001],
  [{ PORT: "55535" }, 65_535],
  [{ PORT: "0" }, 0],
  [{ PORT: "8001", ADMIN_PORT: "9001" }, 9001],
  [{ PORT: "60000", ADMIN_PORT: "0" }, 0],
])("with %j operators have the port %i", (given, port) => {
  expect(settingsIn(given)).toMatchObject({ ADMIN_PORT: port });
});

test("a public port without a port 10000 above it needs an ADMIN_PORT", () => {
  expect(errors({ PORT: "55536" })).toEqual([
    "ADMIN_PORT: nothing given, and PORT 55536 + 10000 is no port; allowed is an integer from 0 to 65535",
  ]);
});

test("deploy/gateway.example.yaml is valid, and has the usual settings and HOST", () => {
  const path = "deploy/gateway.example.yaml";
  expect(settingsIn({ CONFIG: path })).toMatchObject({
    PORT: 8000,
    LEGACY_URL: "https://legacy.example",
    CACHE_LEGACY: ["all"],
    STAGES: { getDataset: { stage: "shadow", share: 10 } },
  });
  const names = Object.keys(parse(readFileSync(path, "utf8")) as object);
  expect(new Set(names)).toEqual(new Set(["HOST", ...Object.keys(settingsByGroup(fragments)["The usual ones"] ?? {})]));
});

test("a configuration in YAML says the same as one in JSON", () => {
  const environment = {
    CONFIG: file(
      `
# yaml-language-server: $schema=config.schema.json
PORT: 9000
PREFIXES: [/v1, /api/v2]
MODERN_URL: http://127.0.0.1:9001
STAGES:
  getDataset: &shadow { stage: shadow, share: 10, gate: { parity: 0.999 } }
  getSetup: *shadow
DEPRECATED:
  - path: /api/v1/json/data
    since: 2026-01-01
`,
      "config.yaml",
    ),
  };
  expect(settingsIn(environment)).toMatchObject({
    PORT: 9000,
    PREFIXES: ["/v1", "/api/v2"],
    STAGES: { getDataset: { stage: "shadow", share: 10 }, getSetup: { stage: "shadow", share: 10 } },
    DEPRECATED: [{ path: "/api/v1/json/data", since: "2026-01-01" }],
  });
});

test("the help describes every setting once, the most used ones first", () => {
  const rows = [...settingsHelp(fragments).matchAll(/^ {2}([A-Z][A-Z_]+) +\S/gm)].map(([, name]) => name);
  const usual = "PORT PREFIXES TRUSTED_PROXIES LEGACY_URL CACHE_LEGACY REDIS_URL DATA_DIR MODERN_URL STAGES";
  expect(rows.slice(1, 10).join(" ")).toBe(usual);
  const names = ["CONFIG", ...Object.keys(settingsSchemaOf(fragments).shape)];
  expect([rows.length, new Set(rows)]).toEqual([names.length, new Set(names)]);
});

test("in the help, settings of the cache stand under one heading but the most used", () => {
  const [cache = ""] = /^Cache and storage:\n( {2}.*\n)+/m.exec(settingsHelp(fragments)) ?? [];
  for (const name of ["CACHE_BYTES", "CACHE_LIFETIMES"]) expect(cache).toContain(`  ${name} `);
});
