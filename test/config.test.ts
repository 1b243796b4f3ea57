import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { helpText } from "../src/config/help.ts";
import { loadSettings } from "../src/config/load.ts";
import { settingsSchema } from "../src/config/settings.ts";

const file = (content: string): string => {
  const path = join(mkdtempSync(join(tmpdir(), "config-")), "config.json");
  writeFileSync(path, content);
  return path;
};
const settings = (environment: Record<string, string>) => {
  const loaded = loadSettings(environment);
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  return loaded.settings;
};
const errors = (environment: Record<string, string>): string[] => {
  const loaded = loadSettings(environment);
  return "errors" in loaded ? loaded.errors : [];
};

describe("settings", () => {
  test("have defaults", () => {
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

  test("come from the file, and the environment wins", () => {
    const CONFIG = file('{"PORT": 9000, "PREFIXES": ["/", "/v1"], "LEGACY_STUDIES": [1, 2]}');
    expect(settings({ CONFIG, PORT: "9001" })).toMatchObject({
      PORT: 9001,
      PREFIXES: ["/", "/v1"],
      LEGACY_STUDIES: [1, 2],
    });
    expect(settings({ CONFIG, PREFIXES: "/a, /b", LEGACY_STUDIES: "7" })).toMatchObject({
      PREFIXES: ["/a", "/b"],
      LEGACY_STUDIES: [7],
    });
    expect(settings({ PREFIXES: '["/a"]', LEGACY_URL: "http://127.0.0.1:1/" })).toMatchObject({
      PREFIXES: ["/a"],
      LEGACY_URL: "http://127.0.0.1:1",
    });
  });

  test.each([
    ["PORT", "70000", "an integer from 0 to 65535"],
    ["PORT", "80a", "an integer from 0 to 65535"],
    ["HEADERS_TIMEOUT_MS", "0", "an integer from 1 to 3600000"],
    ["LOG_LEVEL", "loud", "one of debug, info, warn, error, silent"],
    ["LEGACY_URL", "ftp://x", "an origin such as http://127.0.0.1:8080, without a path"],
    ["LEGACY_URL", "http://x/path", "an origin such as http://127.0.0.1:8080, without a path"],
    ["PREFIXES", "v1", "a path such as /v1, or /"],
    ["PREFIXES", "[", "a list: the prefixes the new interface is served under"],
    ["TRUSTED_PROXIES", "10.0.0.0/99", "addresses or networks such as 10.0.0.0/8"],
    ["LEGACY_STUDIES", "x", "a list: the ids of the studies"],
  ])("%s=%s is named with what is allowed", (name, value, allowed) => {
    const [error, ...others] = errors({ [name]: value });
    expect(others).toEqual([]);
    expect(error).toMatch(new RegExp(`^${name}: .* given in the environment; allowed is `));
    expect(error).toContain(value.replaceAll('"', ""));
    expect(error).toContain(allowed);
  });

  test("all that is wrong is told at once, and what the file has beside the known", () => {
    const CONFIG = file('{"PORT": "9000", "Prefix": [], "nothing": 1}');
    const told = errors({ CONFIG, LOG_LEVEL: "loud" });
    expect(told.map((line) => line.split(":")[0])).toEqual(["PORT", "LOG_LEVEL", "Prefix", "nothing"]);
    expect(told[2]).toContain("allowed are PREFIXES");
  });

  test("never show a secret", () => {
    expect(errors({ LEGACY_API_KEY: "hush hush" })[0]).toBe(
      "LEGACY_API_KEY: (not shown) given in the environment; allowed is 1-64 letters and digits",
    );
    expect(errors({ LEGACY_URL: "http://me:hush@legacy" })[0]).not.toContain("hush");
    expect(errors({ CONFIG: file('{"LEGACY_API_KEY": "hush"') }).join("")).toMatch(/^CONFIG: [^]* is not valid JSON/);
    expect(errors({ CONFIG: file('{"LEGACY_API_KEY": "hush"') }).join("")).not.toContain("hush");
  });

  test.each([
    ["/no/such/file", "ENOENT"],
    [file("[]"), "JSON object"],
  ])("CONFIG=%s is refused", (CONFIG, why) => {
    expect(errors({ CONFIG })[0]).toContain(why);
  });
});

test("the help names every setting", () => {
  const help = helpText();
  expect(Object.keys(settingsSchema.shape).filter((name) => !help.includes(`  ${name} `))).toEqual([]);
});
