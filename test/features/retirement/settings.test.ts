import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { settingsOf } from "../../support/settings.ts";
import { datasets, page, window } from "./support.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";

const load = (environment: Record<string, string>) => settingsOf(environment);
const errorsOf = (name: string, value: unknown): string[] => {
  const loaded = load({ [name]: JSON.stringify(value) });
  return "errors" in loaded ? loaded.errors : [];
};
const aDate = "a date such as 2026-01-01, or an instant such as 2026-01-01T09:00:00Z";
const anInstant = "an instant such as 2026-01-01T09:00:00Z";
const anEnd = "an instant after from, at most 24 hours later; a 410 for good has none";
const aPath = "a path such as /api/v1/json/data";
const aUrl = "a URL such as https://catalogue.example/move";

test("DEPRECATED and BROWNOUTS are read from the environment and from the file", () => {
  const given = { DEPRECATED: [datasets, { path: "/", since: "2026-01-01T00:00:00+01:00" }], BROWNOUTS: [window] };
  const CONFIG = join(temporaryFolder(), "config.json");
  writeFileSync(CONFIG, JSON.stringify(given));
  expect(load({ CONFIG })).toMatchObject({ settings: given });
  const texts = Object.entries(given).map(([name, value]) => [name, JSON.stringify(value)]);
  expect(load(Object.fromEntries(texts) as Record<string, string>)).toMatchObject({ settings: given });
  expect(load({})).toMatchObject({ settings: { DEPRECATED: [], BROWNOUTS: [] } });
});

describe("a wrong field is named, with what was given and what is allowed", () => {
  test.each<[string, string, unknown, string]>([
    ["DEPRECATED", "path", "api", aPath],
    ["DEPRECATED", "path", "/api/", aPath],
    ["DEPRECATED", "path", "/a b", aPath],
    ["DEPRECATED", "path", undefined, aPath],
    ["DEPRECATED", "since", "2026-02-30", aDate],
    ["DEPRECATED", "since", "2026-01-01T00:00:00", aDate],
    ["DEPRECATED", "since", 1_767_225_600, aDate],
    ["DEPRECATED", "since", undefined, aDate],
    ["DEPRECATED", "sunset", "soon", aDate],
    ["DEPRECATED", "sunset", "2026-01-01", "a time after since"],
    ["DEPRECATED", "link", "/page", aUrl],
    ["DEPRECATED", "link", "https://a.example/>", aUrl],
    ["DEPRECATED", "link", "https://a.example/\r\nX: y", aUrl],
    ["DEPRECATED", "link", "https://ä.example/", aUrl],
    ["DEPRECATED", "successor", "//evil.example", "a path such as /v1/datasets, or a URL"],
    ["DEPRECATED", "successor", "v1", "a path such as /v1/datasets, or a URL"],
    ["BROWNOUTS", "from", "2026-11-21", anInstant],
    ["BROWNOUTS", "until", "never", anInstant],
    ["BROWNOUTS", "until", window.from, anEnd],
    ["BROWNOUTS", "until", "2026-11-22T12:00:00.001Z", anEnd],
    ["BROWNOUTS", "until", undefined, anEnd],
    ["BROWNOUTS", "status", 500, "one of 410, 503"],
    ["BROWNOUTS", "status", "503", "one of 410, 503"],
    ["BROWNOUTS", "path", "", aPath],
  ])("%s %s %j", (name, field, value, allowed) => {
    const good = name === "DEPRECATED" ? datasets : window;
    const shown = value === undefined ? "nothing" : JSON.stringify(value);
    expect(
      errorsOf(name, [
        { ...good, path: "/other" },
        { ...good, [field]: value },
      ]),
    ).toEqual([`${name}[1].${field}: ${shown} given in the environment; allowed is ${allowed}`]);
  });

  test("at the bounds they are taken", () => {
    expect(errorsOf("BROWNOUTS", [{ ...window, until: "2026-11-22T12:00:00Z", link: page }])).toEqual([]);
    expect(errorsOf("DEPRECATED", [{ ...datasets, sunset: "2026-01-01T00:00:01Z", successor: page }])).toEqual([]);
  });

  test.each<[unknown, RegExp]>([
    [[{ ...datasets, until: "x" }], /^DEPRECATED\[0\]\.until: "x" given .* allowed is one of path, since, sunset, /],
    [[datasets, datasets], /^DEPRECATED: .*allowed is each path once$/],
    [["/api"], /^DEPRECATED: \["\/api"\] given .* allowed is a list: /],
    [{ ...datasets }, /^DEPRECATED: .* allowed is a list: /],
    [Array.from({ length: 501 }, (_, i) => ({ ...datasets, path: `/${i}` })), /allowed is at most 500 paths$/],
  ])("%#", (value, expected) => {
    expect(errorsOf("DEPRECATED", value)).toEqual([expect.stringMatching(expected)]);
  });
});
