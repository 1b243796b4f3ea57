import { hasFeatures } from "../../support/hasFeatures.ts";
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { z } from "zod";
import { described } from "../../../src/operation/settings/describeIssue.ts";
import { settingsSchemaOf } from "../../../src/operation/settings/settings.ts";
import { fragments, settingsOf } from "../../support/settings.ts";
import { errorsIn as errors, expectNamed, fileWith as file, settingsIn as settings } from "./support.ts";

const all = settingsSchemaOf(fragments).shape;

/** The code without comments and texts: only the expressions of a template stay. */
const codeOf = (source: string): string =>
  source
    .replaceAll(/"(?:\\.|[^"\\\n])*"|\/\*[^]*?\*\/|(?<!:)\/\/.*/g, "")
    .replaceAll(/`[^`]*`/g, (text) => (text.match(/\$\{[^}]*\}/g) ?? []).join(" "));

test("each setting is read outside the file that defines it", () => {
  const files = globSync("{src,libraries,features,tools}/**/*.ts", { exclude: ["**/settings.ts"] });
  const code = files.map((path) => codeOf(readFileSync(path, "utf8"))).join("\n");
  // The settings that decide if a feature is loaded are read beside its definition.
  const deciding = new Set<PropertyKey>();
  const watched = new Proxy(settings({}), {
    get(given, name) {
      deciding.add(name);
      return Reflect.get(given, name) as unknown;
    },
  });
  for (const { isOn } of fragments) isOn?.(watched);
  // `NAME?:` is a type.
  const isRead = (name: string) => deciding.has(name) || new RegExp(`\\b${name}\\b(?!\\?:)`).test(code);
  expect(["NO_SUCH_SETTING", ...Object.keys(all)].filter((name) => !isRead(name))).toEqual(["NO_SUCH_SETTING"]);
});

/** An error of a setting: its name, perhaps with a place in it; what was given; what is allowed, or likely meant. */
const refusalOf = (name: string): RegExp =>
  new RegExp(`^${name}[.\\w[\\]-]*: .*\\bgiven\\b.*; (?:allowed (?:is|are) .+|is .+ meant\\?)$`);

test("an error of any setting names it, what was given, and what is allowed", () => {
  for (const name of Object.keys(all)) {
    const wrong = [5, true, null, "", "[", [5], {}, { all: true }, { getDataset: 5 }, [{}]].flatMap((value) =>
      errors({ CONFIG: file(JSON.stringify({ [name]: value })) }),
    );
    expect([name, wrong.length]).not.toEqual([name, 0]);
    for (const line of wrong) expect(line).toMatch(refusalOf(name));
    expect(wrong.join("\n")).not.toMatch(/Invalid|expected/);
  }
});

test.each<[name: string, given: string, allowed: string]>([
  ["LOG_LEVEL", "loud", "one of debug, info, warn, error, silent"],
  ["LEGACY_URL", "ftp://x", "http://127.0.0.1:8080"],
  ["LEGACY_URL", "http://x/path", "without a path"],
  ["PREFIXES", "v1", "/v1"],
  ["PREFIXES", "v1,v2", "/v1"],
  ["PREFIXES", "[", '["/v1","/api/v2"]'],
  ["PREFIXES", "/v1,/v1", "each prefix once"],
  ["TRUSTED_PROXIES", "10.0.0.0/99", "10.0.0.0/8"],
  ["LEGACY_HOST", "a\r\nb: c", "a host name or address"],
  ["LEGACY_HOST", "a b", "a host name or address"],
  ["HOST", " ", "a host name or address"],
  ["CORS_ORIGINS", "https://a.example/", "https://page.example"],
  ["CORS_ORIGINS", "a.example", "https://page.example"],
])("%s=%j is refused with what was given, and that %s is allowed", (name, given, allowed) => {
  const [error = "", ...others] = errors({ [name]: given });
  expect(others).toEqual([]);
  expect(error).toMatch(refusalOf(name));
  const [said = "", may] = error.split("; allowed is ");
  for (const part of given.split(",")) expect(said).toContain(JSON.stringify(part).slice(1, -1));
  expect(may).toContain(allowed);
});

const dataset = (about: object | string) => ({ getDataset: about });
test.each([
  ["CACHE_LIFETIMES", dataset({ fresh: "5 m" }), '.getDataset.fresh: "5 m" ', "durations such as 90s, 10m"],
  ["CACHE_LIFETIMES", dataset({ stale: "1h" }), '.getDataset.stale: "1h" ', "one of fresh, staleWhileRevalidate,"],
])("a wrong field within %s, as in %j, is named with what is allowed", (name, value, place, allowed) => {
  expectNamed(name, value, place, allowed);
});

test.each<[name: string, usual: unknown, least: number, most: number, beside?: Record<string, string>]>([
  // No port lies 10000 above the highest.
  ["PORT", 8000, 0, 65_535, { ADMIN_PORT: "0" }],
  ["HEADERS_TIMEOUT_MS", 30_000, 1, 3_600_000],
  ["BODY_TIMEOUT_MS", 30_000, 1, 3_600_000],
  ["TOTAL_TIMEOUT_MS", 60_000, 1, 3_600_000],
  ["DRAIN_DELAY_MS", 5000, 0, 3_600_000],
  ["DRAIN_TIMEOUT_MS", 30_000, 1, 3_600_000],
  ["MAX_BODY_BYTES", 128 * 1024, 1024, 512 * 1024],
  // One answer has to fit into what all may take.
  ["MAX_REPLY_BYTES", 32 * 1024 ** 2, 1024, 1024 ** 3, { MEMORY_BYTES: String(2 ** 30) }],
  ["MAX_CONNECTIONS", 64, 1, 100_000],
])("%s is %i by default, and takes %i to %i", (name, usual, least, most, beside = {}) => {
  expect(settings({})).toMatchObject({ [name]: usual });
  for (const good of [least, most, ` ${most} `])
    expect(settings({ ...beside, [name]: String(good) })).toMatchObject({ [name]: Number(good) });
  const inEnvironment = [least - 1, most + 1, "1.5", "1e3", "0x10", "ten", "1,000"].map((bad) => ({
    [name]: String(bad),
  }));
  const inFile = [null, true, "5", [1], { a: 1 }, 1.5].map((bad) => ({
    CONFIG: file(JSON.stringify({ [name]: bad })),
  }));
  for (const bad of [...inEnvironment, ...inFile])
    expect(errors(bad)).toEqual([
      expect.stringMatching(new RegExp(`^${name}: .*; allowed is .* ${least} to ${most}$`)),
    ]);
});

test("settings have defaults, also where the environment has an empty text", () => {
  const usual = {
    HOST: "127.0.0.1",
    LEGACY_PATH: "/api/v1",
    PREFIXES: ["/v1"],
    CORS_ORIGINS: ["*"],
    TRUSTED_PROXIES: [],
  };
  expect(settings({})).toMatchObject({ ...usual, MEMORY_BYTES: 256 * 1024 ** 2 });
  expect(settings({ LEGACY_URL: "", PORT: "" })).toEqual(settings({}));
});

test("settings come from the file, and the environment wins, unless it is empty there", () => {
  const CONFIG = file('{"PORT": "x", "HOST": "::1", "PREFIXES": ["/", "/v1"], "MAX_CONNECTIONS": 7}');
  const fromFile = { HOST: "::1", PREFIXES: ["/", "/v1"], MAX_CONNECTIONS: 7 };
  expect(settings({ CONFIG, PORT: "1" })).toMatchObject({ ...fromFile, PORT: 1 });
  expect(settings({ CONFIG, PORT: "1", PREFIXES: "/a, /b" })).toMatchObject({ ...fromFile, PREFIXES: ["/a", "/b"] });
  expect(errors({ CONFIG, PORT: "" })).toEqual([expect.stringMatching(/^PORT: "x" given in /)]);
});

test.each<[name: string, text: string, list: unknown[]]>([
  ["CACHE_LEGACY", "all", ["all"]],
  ["CACHE_LEGACY", "getDataset, listRuns", ["getDataset", "listRuns"]],
  ["PREFIXES", '["/v1", "/v2"]', ["/v1", "/v2"]],
  ["CORS_ORIGINS", "https://a.example,https://b.example", ["https://a.example", "https://b.example"]],
  ["TRUSTED_PROXIES", " ", []],
  ...(hasFeatures
    ? [
        [
          "DEPRECATED",
          '[{"path": "/api/v1/json/data", "since": "2026-01-01"}]',
          [{ path: "/api/v1/json/data", since: "2026-01-01" }],
        ] satisfies [string, string, unknown[]],
      ]
    : []),
])("a list may be a single text, in a file as in the environment: %s %s", (name, text, list) => {
  for (const given of [
    { [name]: text },
    { CONFIG: file(JSON.stringify({ [name]: text })) },
    { CONFIG: file(JSON.stringify({ [name]: list })) },
  ])
    expect(settings(given)).toMatchObject({ [name]: list });
});

test.runIf(hasFeatures)("the error for a wrong list shows a valid list", () => {
  const lists = Object.entries(all).filter(([, field]) => described(field as z.ZodType).type === "array");
  expect(lists.length).toBeGreaterThan(6);
  for (const [name] of lists)
    for (const value of [5, null, { all: true }, "["]) {
      const [error = ""] = errors({ CONFIG: file(JSON.stringify({ [name]: value })) });
      const [, form = "none"] = /; allowed is [^[]*(\[.*?\])(?=:|$)/.exec(error) ?? [];
      const needed: Record<string, string> =
        name === "MOVE_LEGACY" ? { CACHE_LEGACY: "all", MODERN_URL: "http://127.0.0.1:9" } : {};
      expect([error, errors({ ...needed, CONFIG: file(`{"${name}": ${form}}`) })]).toEqual([error, []]);
    }
  expect(errors({ CONFIG: file('{"PREFIXES": ""}') })).toEqual([expect.stringContaining('["/v1","/api/v2"]')]);
});

test("digits that a YAML file has as a number are refused: put them in quotes", () => {
  const texts = ["HOST", "LEGACY_URL", "LEGACY_HOST", "LEGACY_CA", "LEGACY_API_KEY", "ADMIN_TOKEN", "METRICS_TOKEN"];
  const CONFIG = file(texts.map((name) => `${name}: 12345678901234567890\n`).join(""), "config.yaml");
  expect(errors({ CONFIG })).toEqual(texts.map((name) => expect.stringMatching(`^${name}: .* in quotes$`) as string));
  const quoted = file("LEGACY_API_KEY: '00012345678901234567890'\n", "config.yaml");
  expect(settings({ CONFIG: quoted })).toMatchObject({ LEGACY_API_KEY: "00012345678901234567890" });
});

test("LEGACY_URL is required where NODE_ENV is production, even for the sample", () => {
  const NODE_ENV = "production";
  expect(settings({})).toMatchObject({ LEGACY_URL: "sample" });
  expect(errors({ NODE_ENV })).toEqual([expect.stringMatching(refusalOf("LEGACY_URL"))]);
  for (const LEGACY_URL of ["sample", "http://127.0.0.1:9"])
    expect(settings({ NODE_ENV, LEGACY_URL })).toMatchObject({ LEGACY_URL });
  expect(settings({ NODE_ENV, CONFIG: file('{"LEGACY_URL": "sample"}') })).toMatchObject({ LEGACY_URL: "sample" });
  // The name that it was given under stands beside the refusal.
  expect(settingsOf({ NODE_ENV, LEGACY_ULR: "http://127.0.0.1:9" })).toMatchObject({
    errors: [expect.stringMatching(/^LEGACY_URL: /)],
    warnings: [expect.stringMatching(/^LEGACY_ULR .* LEGACY_URL /)],
  });
});

test("an unknown setting is ignored in the environment and refused in the file", () => {
  expect(settings({ PREFIX: "x", port: "x" })).toEqual(settings({}));
  for (const name of ["CACHE", "__proto__", "toString", "CONFIG"])
    expect(errors({ CONFIG: file(`{"${name}": "hush"}`) })).toEqual([
      expect.stringMatching(new RegExp(`^${name}: unknown setting in .*; allowed are [A-Z_, ]+$`)),
    ]);
});

test("no error shows a key, or the password of a URL", () => {
  expect(errors({ LEGACY_API_KEY: "hush hush" })).toEqual([
    expect.stringMatching(/^LEGACY_API_KEY: \(not shown\) given/),
  ]);
  for (const url of [
    "http://me:hush@legacy",
    "http://me:hu?sh@x",
    "http://me:hu#sh@x",
    "https://hush@legacy/",
    "http://me:a/hush@legacy",
    "http://me:a@hush@legacy",
    "me:hush@legacy",
    "http:/me:hush@legacy",
    "http://legacy?api_key=hush",
  ]) {
    const inEnvironment = errors({ LEGACY_URL: url });
    expect(inEnvironment).toEqual([expect.stringContaining("(not shown)")]);
    const inFile = errors({ CONFIG: file(JSON.stringify({ LEGACY_URL: [url] })) });
    for (const error of [...inEnvironment, ...inFile]) expect(error).not.toMatch(/hu.?sh/);
  }
});
