import { hasFeatures } from "../../support/hasFeatures.ts";
import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { described } from "../../../src/operation/settings/describeIssue.ts";
import { settingsSchemaOf } from "../../../src/operation/settings/settings.ts";
import { fragments, settingsOf } from "../../support/settings.ts";
import { errorsIn as errors, expectNamed, fileWith as file, settingsIn as settings } from "./support.ts";

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
    get(all, name) {
      deciding.add(name);
      return Reflect.get(all, name) as unknown;
    },
  });
  for (const { isOn } of fragments) isOn?.(watched);
  // `NAME?:` is a type.
  const isRead = (name: string) => deciding.has(name) || new RegExp(`\\b${name}\\b(?!\\?:)`).test(code);
  const names = Object.keys(settingsSchemaOf(fragments).shape);
  expect(["NO_SUCH_SETTING", ...names].filter((name) => !isRead(name))).toEqual(["NO_SUCH_SETTING"]);
});

describe("settings", () => {
  test("settings have defaults", () => {
    expect(settings({})).toMatchObject({
      PORT: 8000,
      HOST: "127.0.0.1",
      LEGACY_PATH: "/api/v1",
      PREFIXES: ["/v1"],
      CORS_ORIGINS: ["*"],
      TRUSTED_PROXIES: [],
    });
    expect(settings({ LEGACY_URL: "", PORT: "" })).toEqual(settings({}));
  });

  test("settings come from the file, and the environment wins", () => {
    const CONFIG = file('{"PORT": 9000, "PREFIXES": ["/", "/v1"], "MAX_CONNECTIONS": 7}');
    expect(settings({ CONFIG, PORT: "9001" })).toMatchObject({
      PORT: 9001,
      PREFIXES: ["/", "/v1"],
      MAX_CONNECTIONS: 7,
    });
    expect(settings({ CONFIG, PREFIXES: "/a, /b", MAX_CONNECTIONS: "8" })).toMatchObject({
      PREFIXES: ["/a", "/b"],
      MAX_CONNECTIONS: 8,
    });
    expect(settings({ PREFIXES: '["/a"]', LEGACY_URL: "http://127.0.0.1:1/" })).toMatchObject({
      PREFIXES: ["/a"],
      LEGACY_URL: "http://127.0.0.1:1",
    });
  });

  test.each<[name: string, text: string, list: unknown[]]>([
    ["CACHE_LEGACY", "all", ["all"]],
    ["CACHE_LEGACY", "getDataset, listRuns", ["getDataset", "listRuns"]],
    ["PREFIXES", "/v1", ["/v1"]],
    ["PREFIXES", '["/v1", "/v2"]', ["/v1", "/v2"]],
    ["CORS_ORIGINS", "https://a.example,https://b.example", ["https://a.example", "https://b.example"]],
    ["TRUSTED_PROXIES", "10.0.0.1", ["10.0.0.1"]],
    ["TRUSTED_PROXIES", " ", []],
    ["ADMIN_NAMES", "gateway.internal", ["gateway.internal"]],
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
    const lists = Object.entries(settingsSchemaOf(fragments).shape).filter(
      ([, field]) => described(field as z.ZodType).type === "array",
    );
    expect(lists.length).toBeGreaterThan(6);
    for (const [name] of lists) {
      const wrong = [5, null, { all: true }, "["].flatMap((value) =>
        errors({ CONFIG: file(JSON.stringify({ [name]: value })) }),
      );
      expect(wrong).toHaveLength(4);
      for (const error of wrong) {
        const [, form = "none"] = /; allowed is [^[]*(\[.*?\])(?=:|$)/.exec(error) ?? [];
        expect([error, errors({ CONFIG: file(`{"${name}": ${form}}`) })]).toEqual([error, []]);
      }
    }
    expect(errors({ CONFIG: file('{"PREFIXES": ""}') })).toEqual([
      expect.stringMatching(/^PREFIXES: \[\] given in .*; allowed is a list such as \["\/v1","\/api\/v2"\]: /),
    ]);
  });

  test.each([
    ["LOG_LEVEL", "loud", "one of debug, info, warn, error, silent"],
    ["LEGACY_URL", "ftp://x", "an origin such as http://127.0.0.1:8080, without a path, or sample"],
    ["LEGACY_URL", "http://x/path", "an origin such as http://127.0.0.1:8080, without a path"],
    ["PREFIXES", "v1", "a path such as /v1, or /"],
    ["PREFIXES", "v1,v2", "a path such as /v1, or /"],
    ["PREFIXES", "[", 'a list such as ["/v1","/api/v2"]: path prefixes of the new interface'],
    ["TRUSTED_PROXIES", "10.0.0.0/99", "addresses or networks such as 10.0.0.0/8"],
    ["LEGACY_HOST", "a\r\nb: c", "a host name or address"],
    ["LEGACY_HOST", "a b", "a host name or address"],
    ["HOST", " ", "a host name or address"],
    ["CORS_ORIGINS", "https://a.example/", "* or origins such as https://page.example"],
    ["CORS_ORIGINS", "a.example", "* or origins such as https://page.example"],
  ])("%s=%s is named with what is allowed", (name, value, allowed) => {
    const [error, ...others] = errors({ [name]: value });
    expect(others).toEqual([]);
    expect(error).toMatch(new RegExp(`^${name}: .* given in the environment; allowed is `));
    for (const part of value.split(",")) expect(error).toContain(JSON.stringify(part).slice(1, -1));
    expect(error).toContain(allowed);
  });

  const dataset = (about: object | string) => ({ getDataset: about });
  test.each([
    ["CACHE_LIFETIMES", dataset({ fresh: "5 m" }), '.getDataset.fresh: "5 m" ', "durations such as 90s, 10m"],
    ["CACHE_LIFETIMES", dataset({ stale: "1h" }), '.getDataset.stale: "1h" ', "one of fresh, staleWhileRevalidate,"],
  ])("a wrong field within %s, as in %j, is named with what is allowed", (name, value, place, allowed) => {
    expectNamed(name, value, place, allowed);
  });

  test("a prefix that is given twice is refused", () => {
    expect(errors({ PREFIXES: "/v1,/v1" })).toEqual([
      'PREFIXES: ["/v1","/v1"] given in the environment; allowed is each prefix once',
    ]);
  });

  test("all errors are reported at once, with the unknown settings of the file", () => {
    const CONFIG = file('{"PORT": "9000", "Prefix": [], "nothing": 1}');
    const found = errors({ CONFIG, LOG_LEVEL: "loud" });
    expect(found.map((line) => line.split(":")[0])).toEqual(["PORT", "LOG_LEVEL", "Prefix", "nothing"]);
    expect(found[2]).toContain("is PREFIXES meant?");
  });

  test("digits that a YAML file has as a number are refused: put them in quotes", () => {
    const texts = ["HOST", "LEGACY_URL", "LEGACY_HOST", "LEGACY_CA", "LEGACY_API_KEY", "ADMIN_TOKEN", "METRICS_TOKEN"];
    const found = errors({
      CONFIG: file(texts.map((name) => `${name}: 12345678901234567890\n`).join(""), "config.yaml"),
    });
    expect(found.map((line) => line.split(":", 1)[0])).toEqual(texts);
    for (const line of found) expect(line).toMatch(/ given in .*; allowed is .*: put it in quotes$/);
    const quoted = file("LEGACY_API_KEY: '00012345678901234567890'\n", "config.yaml");
    expect(settings({ CONFIG: quoted })).toMatchObject({ LEGACY_API_KEY: "00012345678901234567890" });
  });

  test("a value of another type is refused in plain words, for every setting", () => {
    for (const name of Object.keys(settingsSchemaOf(fragments).shape))
      for (const value of [5, true, null, "", [5], {}, { getDataset: 5 }, [{}]])
        for (const line of errors({ CONFIG: file(JSON.stringify({ [name]: value })) }))
          expect(line).not.toMatch(/Invalid|expected/);
  });

  test("LEGACY_URL is required where NODE_ENV is production, even for the sample", () => {
    const NODE_ENV = "production";
    expect(settings({})).toMatchObject({ LEGACY_URL: "sample" });
    expect(errors({ NODE_ENV })).toEqual([
      expect.stringMatching(/^LEGACY_URL: nothing given with NODE_ENV=production; allowed is the origin .* or sample /),
    ]);
    for (const LEGACY_URL of ["sample", "http://127.0.0.1:9"])
      expect(settings({ NODE_ENV, LEGACY_URL })).toMatchObject({ LEGACY_URL });
    expect(settings({ NODE_ENV, CONFIG: file('{"LEGACY_URL": "sample"}') })).toMatchObject({ LEGACY_URL: "sample" });
    // The name that it was given under stands beside the refusal.
    expect(settingsOf({ NODE_ENV, LEGACY_ULR: "http://127.0.0.1:9" })).toMatchObject({
      errors: [expect.stringMatching(/^LEGACY_URL: /)],
      warnings: [expect.stringMatching(/^LEGACY_ULR .* is LEGACY_URL meant\?$/)],
    });
  });

  test("errors never show a secret", () => {
    expect(errors({ LEGACY_API_KEY: "hush hush" })[0]).toBe(
      "LEGACY_API_KEY: (not shown) given in the environment; allowed is 1-64 letters and digits",
    );
    expect(errors({ LEGACY_URL: "http://me:hush@legacy" })[0]).not.toContain("hush");
  });
});

describe("every setting", () => {
  const bounds: [name: string, usual: unknown, least: number, most: number][] = [
    ["PORT", 8000, 0, 65_535],
    ["HEADERS_TIMEOUT_MS", 30_000, 1, 3_600_000],
    ["BODY_TIMEOUT_MS", 30_000, 1, 3_600_000],
    ["TOTAL_TIMEOUT_MS", 60_000, 1, 3_600_000],
    ["DRAIN_DELAY_MS", 5000, 0, 3_600_000],
    ["DRAIN_TIMEOUT_MS", 30_000, 1, 3_600_000],
    ["MAX_BODY_BYTES", 128 * 1024, 1024, 512 * 1024],
    ["MAX_REPLY_BYTES", 32 * 1024 ** 2, 1024, 1024 ** 3],
    ["MAX_CONNECTIONS", 64, 1, 100_000],
  ];

  test("MEMORY_BYTES is at least MAX_REPLY_BYTES", () => {
    expect(settings({})).toMatchObject({ MEMORY_BYTES: 256 * 1024 ** 2 });
    const both = { MAX_REPLY_BYTES: "2000", MEMORY_BYTES: "2000" };
    expect(settings(both)).toMatchObject({ MEMORY_BYTES: 2000 });
    expect(errors({ ...both, MEMORY_BYTES: "1999" })).toEqual([
      "MEMORY_BYTES: 1999 given; allowed is at least MAX_REPLY_BYTES (2000), so that one answer alone has room",
    ]);
  });

  test.each(bounds)("%s is %i by default, and takes %i to %i", (name, usual, least, most) => {
    expect(settings({})).toMatchObject({ [name]: usual });
    // One answer has to fit into what all may take, and no port lies 10000 above the highest.
    const others: Record<string, Record<string, string>> = {
      MAX_REPLY_BYTES: { MEMORY_BYTES: String(2 ** 30) },
      PORT: { ADMIN_PORT: "0" },
    };
    for (const good of [least, most, ` ${most} `])
      expect(settings({ ...others[name], [name]: String(good) })).toMatchObject({ [name]: Number(good) });
    for (const bad of [least - 1, most + 1, "1.5", "1e3", "0x10", "ten", "1,000"])
      expect(errors({ [name]: String(bad) })).toEqual([
        `${name}: ${/^-?\d+$/.test(String(bad)) ? bad : `"${bad}"`} given in the environment; allowed is an integer from ${least} to ${most}`,
      ]);
    for (const bad of [null, true, "5", [1], { a: 1 }, 1.5])
      expect(errors({ CONFIG: file(JSON.stringify({ [name]: bad })) })).toEqual([
        expect.stringMatching(
          new RegExp(`^${name}: .* given in /.*config\\.json; allowed is an integer from ${least} to ${most}$`),
        ),
      ]);
  });

  test("an unknown setting is ignored in the environment and refused in the file", () => {
    expect(settings({ PREFIX: "x", port: "x" })).toEqual(settings({}));
    for (const name of ["CACHE", "__proto__", "toString", "CONFIG"])
      expect(errors({ CONFIG: file(`{"${name}": "hush"}`) })).toEqual([
        expect.stringMatching(new RegExp(`^${name}: unknown setting in .*; allowed are [A-Z_, ]+$`)),
      ]);
  });

  test("the environment overrides a setting of the file, unless it is empty there", () => {
    const CONFIG = file('{"PORT": "x", "HOST": "::1", "MAX_CONNECTIONS": 5}');
    expect(settings({ CONFIG, PORT: "1" })).toMatchObject({ PORT: 1, HOST: "::1", MAX_CONNECTIONS: 5 });
    expect(errors({ CONFIG, PORT: "" })[0]).toContain('PORT: "x" given in');
  });
});

test.each([
  "http://me:hush@legacy",
  "http://me:hu?sh@x",
  "http://me:hu#sh@x",
  "https://hush@legacy/",
  "http://me:a/hush@legacy",
  "http://me:a@hush@legacy",
  "me:hush@legacy",
  "http:/me:hush@legacy",
  "http://legacy?api_key=hush",
])("the password of LEGACY_URL=%s is not shown", (url) => {
  expect(errors({ LEGACY_URL: url })).toEqual([expect.stringContaining("(not shown)")]);
  expect(errors({ LEGACY_URL: url })[0]).not.toMatch(/hu.?sh/);
  expect(errors({ CONFIG: file(JSON.stringify({ LEGACY_URL: [url] })) })[0]).not.toMatch(/hu.?sh/);
});
