import { expect, test } from "vitest";
import { scopeOf } from "../../../features/privateDatasets/scanResults.ts";

test("stored rows belong to one legacy, by its address, path and host name", () => {
  const legacy = { LEGACY_URL: "https://legacy.example:8443", LEGACY_PATH: "/api/v1", LEGACY_HOST: undefined };
  const isSame = (other: Partial<Parameters<typeof scopeOf>[0]>) =>
    scopeOf({ ...legacy, ...other }) === scopeOf(legacy);
  expect([
    isSame({ LEGACY_URL: "https://LEGACY.example:8443" }),
    isSame({ LEGACY_HOST: "legacy.example:8443" }),
    isSame({ LEGACY_URL: "https://other.example:8443" }),
    isSame({ LEGACY_PATH: "/api/v2" }),
    isSame({ LEGACY_HOST: "other.example" }),
  ]).toEqual([true, true, false, false, false]);
});
