import { expect, test } from "vitest";
import { loadSettings } from "../../../src/operation/settings/load.ts";
import { scopeOf } from "../../../features/privateDatasets/scanResults.ts";

/** The scope that the program has with this environment. */
const scope = (environment: Record<string, string | undefined>): string => {
  const loaded = loadSettings(environment, {});
  if ("errors" in loaded) throw new Error(loaded.errors.join());
  return scopeOf(loaded.settings);
};
const LEGACY_URL = "https://legacy.example:8443";

test("every legacy has its own scope, by its address, path and host name", () => {
  const all = [
    { LEGACY_URL },
    { LEGACY_URL: "https://other.example:8443" },
    { LEGACY_URL, LEGACY_PATH: "/api/v2" },
    { LEGACY_URL, LEGACY_HOST: "other.example" },
  ].map(scope);
  expect(new Set(all).size).toBe(all.length);
});

test("different spellings of an address are one legacy", () => {
  for (const other of [
    { LEGACY_URL: "https://LEGACY.example:8443" },
    { LEGACY_URL, LEGACY_HOST: "legacy.example:8443" },
    { LEGACY_URL, LEGACY_PATH: "/api/v1", LEGACY_ADMIN_KEY: "another" },
  ])
    expect(scope(other)).toBe(scope({ LEGACY_URL }));
});
