import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { settingsHelp } from "../../tools/settingsHelp.ts";
import { settingsByGroup, settingsSchemaOf } from "../../src/operation/settings/settings.ts";
import {
  errorsIn as errors,
  expectNamed,
  fileWith as file,
  settingsIn,
  warningsIn,
} from "../operation/settings/support.ts";
import { fragments } from "../support/settings.ts";

const dataset = (about: object | string) => ({ getDataset: about });
const stages = "one of legacy, shadow, canary, modern";
test.each([
  ["STAGES", dataset({ stage: "shadow", share: 110 }), ".getDataset.share: 110 ", "an integer from 0 to 100"],
  ["STAGES", dataset({ stage: "beta" }), '.getDataset.stage: "beta" ', stages],
  ["STAGES", dataset({}), ".getDataset.stage: nothing ", stages],
  ["STAGES", dataset({ stage: "legacy", gate: { parity: 2 } }), ".getDataset.gate.parity: 2 ", "a number from 0 to 1"],
  ["STAGES", dataset({ stage: "legacy", gate: "never" }), '.getDataset.gate: "never" ', '"none", or an object such as'],
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
    expect.stringMatching(/^STAGES.getDataset.stage: "canary" given without MODERN_URL; allowed is "legacy"/),
  ]);
  expect(errors({ STAGES, MODERN_URL: "http://127.0.0.1:9000" })).toEqual([]);
});

test.each<[message: string, given: Record<string, string>]>([
  ["given without DATA_DIR; allowed is both", {}],
  ["given with CACHE_BYTES 0, which caches nothing; allowed is any other", { DATA_DIR: "/data", CACHE_BYTES: "0" }],
  ["given with REDIS_URL, .*: nothing is cached on the disk; better is", { REDIS_URL: "redis://127.0.0.1" }],
])("CACHE_DISK_BYTES %s: with %j", (message, given) => {
  const found = warningsIn({ ...given, CACHE_DISK_BYTES: "67108864" });
  expect(found).toEqual([expect.stringMatching(new RegExp(`^CACHE_DISK_BYTES: ${message}`))]);
});

test("CACHE_DISK_BYTES is valid with DATA_DIR, and with REDIS_URL a warning", () => {
  const CACHE_DISK_BYTES = "67108864";
  expect(warningsIn({ CACHE_DISK_BYTES, DATA_DIR: "/data" })).toEqual([]);
  expect(errors({ CACHE_DISK_BYTES, REDIS_URL: "redis://127.0.0.1", DATA_DIR: "/data" })).toEqual([]);
  expect(errors({ CACHE_DISK_BYTES: "67108863", DATA_DIR: "/data" })).toEqual([
    expect.stringMatching(/^CACHE_DISK_BYTES: .*; allowed is an integer from 67108864 to 1099511627776$/),
  ]);
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
    expect.stringMatching(/^ADMIN_PORT: nothing given, .*PORT 55536.*; allowed is .* 0 to 65535$/),
  ]);
});

const certificate = () => file(rootCertificates[0] ?? "", "ca.pem");
const port = { PORT: "9000", ADMIN_PORT: "9000" };
const long = { MODERN_TIMEOUT_MS: "30000", TOTAL_TIMEOUT_MS: "20000" };
const gone = (path: string) => JSON.stringify([{ path, from: "2026-12-01T09:00:00Z", status: 410 }]);

describe("settings that are valid alone are refused where they conflict", () => {
  test.each<[error: string, given: Record<string, string>]>([
    ["PREFIXES: /old given", { PREFIXES: "/v1,/old", LEGACY_PATH: "/old" }],
    ["PREFIXES: /old given", { PREFIXES: "/old", LEGACY_PATH: "/old/v2" }],
    ["PREFIXES: /old/new given", { PREFIXES: "/old/new", LEGACY_PATH: "/old" }],
    ["ADMIN_PORT: 9000 given", port],
    ["ADMIN_PORT: 9000 given", { ...port, HOST: "0.0.0.0" }],
    ["ADMIN_PORT: 9000 given", { ...port, HOST: "::" }],
    ["ADMIN_PORT: 9000 given", { ...port, ADMIN_HOST: "localhost" }],
    ["MEMORY_BYTES: 67108864 given", { MEMORY_BYTES: String(2 ** 26), MAX_REPLY_BYTES: String(2 ** 27) }],
    ["CACHE_LEGACY: given with CACHE_BYTES 0", { CACHE_LEGACY: "all", CACHE_BYTES: "0" }],
    ["MODERN_TIMEOUT_MS: 30000 given", { ...long, MODERN_URL: "http://127.0.0.1:9" }],
    ["LEGACY_CA: given", { LEGACY_CA: certificate(), LEGACY_URL: "http://127.0.0.1:9" }],
    ["MODERN_CA: given", { MODERN_CA: certificate(), MODERN_URL: "http://127.0.0.1:9" }],
    ["RATE_LIMIT_EXEMPT: 0.0.0.0/0 given", { RATE_LIMIT: "5", RATE_LIMIT_EXEMPT: "10.0.0.1,0.0.0.0/0" }],
    ["BROWNOUTS: /v2/data given", { BROWNOUTS: gone("/v2/data"), PREFIXES: "/v2" }],
    ["DEPRECATED: /v2 given", { DEPRECATED: '[{"path": "/v2", "since": "2026-01-01"}]', PREFIXES: "/v2" }],
  ])("%s is an error of settings that conflict: %j", (error, given) => {
    expect(errors(given)).toEqual([expect.stringMatching(new RegExp(`^${error}.*; allowed (is|are) `))]);
    for (const [name, value] of Object.entries(given)) {
      expect([name, errors({ [name]: value })]).toEqual([name, []]);
      // A value that is wrong by itself is not compared with the others.
      const wrong = errors({ ...given, [name]: "\u0001" });
      expect([...new Set(wrong.map((line) => line.split(/[:[]/, 1)[0]))]).toEqual([name]);
    }
  });

  test.each<Record<string, string>>([
    { PREFIXES: "/", LEGACY_PATH: "/old" },
    { PREFIXES: "/v1", LEGACY_PATH: "/" },
    { PREFIXES: "/old2,/o", LEGACY_PATH: "/old" },
    { PORT: "0", ADMIN_PORT: "0" },
    { ...port, ADMIN_HOST: "127.0.0.2" },
    { ...port, HOST: "0.0.0.0", ADMIN_HOST: "::1" },
    { RATE_LIMIT_EXEMPT: "0.0.0.0/0" },
    { PREFIXES: "/", BROWNOUTS: gone("/api") },
    { MODERN_CA: certificate(), MODERN_URL: "https://127.0.0.1:9", LEGACY_CA: certificate() },
  ])("%j are valid together", (given) => expect(errors(given)).toEqual([]));

  test.each<[warning: string, given: Record<string, string>]>([
    ["CACHE_BYTES: 8000000 given", { CACHE_LEGACY: "all", CACHE_BYTES: "8000000" }],
    ["TRUSTED_PROXIES: 0.0.0.0/0 given", { TRUSTED_PROXIES: "0.0.0.0/0" }],
    ["TRUSTED_PROXIES: ::/0 given", { TRUSTED_PROXIES: "10.0.0.1, ::/0" }],
  ])("%s is a warning: %j", (warning, given) => {
    expect(warningsIn(given)).toEqual([expect.stringMatching(new RegExp(`^${warning}.*; better (is|are) `))]);
  });

  test("a setting that needs another is not refused while that other is invalid", () => {
    const WEBHOOK_URL = "https://hooks.example/x";
    expect(errors({ WEBHOOK_URL, WEBHOOK_SECRET: "short" })).toEqual([expect.stringMatching(/^WEBHOOK_SECRET: /)]);
    expect(errors({ WEBHOOK_URL, CONFIG: "/none" })).toEqual([expect.stringMatching(/^CONFIG: /)]);
    expect(errors({ ADMIN_HOST: "0.0.0.0", ADMIN_TOKEN_FILE: "/none" })).toEqual([
      expect.stringMatching(/^ADMIN_TOKEN_FILE: /),
    ]);
  });
});

test("a start names all errors: in files, in the environment, and in combinations", () => {
  const STAGES = '{"getDatset": {"stage": "shadow"}, "getSetup": {"stage": "canary"}}';
  const CONFIG = file("PORT: eighty\nLEGACY_ULR: http://a\nLEGACY_API_KEY: 12345678\n", "config.yaml");
  const given = {
    CONFIG,
    STAGES,
    LEGACY_CA: "/none",
    EXPECTED_DIFFERENCES: "/none",
    ADMIN_TOKEN_FILE: file("\n"),
    METRICS_TOKEN_FILE: "/none",
    LOG_LEVEL: "loud",
    CACHE_LEGACY: "getDataste",
    PREFIXES: "/api",
    WEBHOOK_URL: "https://hooks.example/x",
    MEMORY_BYTES: "1024",
  };
  const found = errors(given);
  const names = `ADMIN_TOKEN_FILE METRICS_TOKEN_FILE PORT LEGACY_CA LEGACY_API_KEY LOG_LEVEL EXPECTED_DIFFERENCES
    LEGACY_ULR CACHE_LEGACY MEMORY_BYTES PREFIXES WEBHOOK_URL STAGES STAGES.getDatset.stage STAGES.getSetup.stage`;
  expect(found.map((line) => line.split(": ", 1)[0])).toEqual(names.split(/\s+/));
  for (const meant of ["LEGACY_URL", "getDataset"])
    expect(found).toContainEqual(expect.stringMatching(new RegExp(`; is ${meant} meant\\?$`)));
  expect(found[0]).toMatch(/ is empty; allowed is the path of a file with the secret$/);
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

test("the help describes every setting once in plain text, the most used ones first", () => {
  const help = settingsHelp(fragments);
  const rows = [...help.matchAll(/^ {2}([A-Z][A-Z_]+) +\S/gm)].map(([, name]) => name);
  const usual = "PORT PREFIXES TRUSTED_PROXIES LEGACY_URL CACHE_LEGACY REDIS_URL DATA_DIR MODERN_URL STAGES";
  expect(rows.slice(1, 10).join(" ")).toBe(usual);
  const names = ["CONFIG", ...Object.keys(settingsSchemaOf(fragments).shape)];
  expect([rows.length, new Set(rows)]).toEqual([names.length, new Set(names)]);
  const [cache = ""] = /^Cache and storage:\n( {2}.*\n)+/m.exec(help) ?? [];
  for (const name of ["CACHE_BYTES", "CACHE_LIFETIMES", "CACHE_DISK_BYTES"]) expect(cache).toContain(`  ${name} `);
  // Descriptions are Markdown, for the documents.
  expect(help + errors({ WEBHOOK_URL: "https://hooks.example/x" }).join("\n")).not.toMatch(/`|\]\(/);
});
