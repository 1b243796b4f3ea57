import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { legacyTargets } from "../../../src/catalogue/legacy/legacyTarget.ts";
import { legacyPaths } from "../../../transforms/legacyInterface.ts";

const read = legacyTargets("/api/v1", legacyPaths);

describe("a request to legacy's interface, however its path is written", () => {
  test.each([
    ["/api/v1/json/data/61", "/api/v1/json/data/61", ""],
    ["/api/v1/json/data/61/?api_key=K", "/api/v1/json/data/61", "api_key=K"],
    ["/api//v1///json/data/61", "/api/v1/json/data/61", ""],
    ["/api_new/v1/json/data/61", "/api/v1/json/data/61", ""],
    ["/index.php/api/v1/json/data/61?a=b", "/api/v1/json/data/61", "a=b"],
    ["/?/api/v1/json/data/61?api_key=K&a", "/api/v1/json/data/61", "api_key=K&a"],
    ["//?//api_new//v1/data", "/api/v1/data", ""],
    ["/index.php?/api/v1/json/data/61", "/api/v1/json/data/61", ""],
    // Legacy leaves `..` out.
    ["/api/v1/../json/data/61", "/api/v1/json/data/61", ""],
    // Compared as it is written.
    ["/api/v1/%6Ason/Data", "/api/v1/%6Ason/Data", ""],
    ["/api/v1/json/data#x?y", "/api/v1/json/data", ""],
  ])("%s is a request to legacy's interface", (target, path, query) => {
    const found = read(target);
    expect([found?.path, found?.query]).toEqual([path, query]);
    expect(`/api/v1/${found?.segments.join("/")}`.replace(/\/$/, "")).toBe(path);
  });

  test.each([
    "/",
    "/nowhere/data",
    "/API/v1/json/data",
    "/api",
    "/api/v10/json/data",
    "/%61pi/v1/json/data",
    "/?api/v1/json/data",
    "/./api/v1/json/data",
    "*",
  ])("%s is no request to legacy's interface", (target) => {
    expect(read(target)).toBeUndefined();
  });
});

test("a LEGACY_PATH that ends with /api/v1 has the aliases of that path beside it", () => {
  const below = legacyTargets("/openml/api/v1", legacyPaths);
  for (const target of [
    "/openml/api/v1/x",
    "/openml/api_new/v1/x",
    "/openml/index.php/api/v1/x",
    "/openml/?/api/v1/x",
    "/openml/index.php?/api/v1/x",
  ])
    expect([target, below(target)?.path]).toEqual([target, "/openml/api/v1/x"]);
  expect([below("/api/v1/x"), below("/?/api/v1/x")]).toEqual([undefined, undefined]);
});

test("any other LEGACY_PATH has no alias but doubled slashes", () => {
  const renamed = legacyTargets("/rest", legacyPaths);
  expect([renamed("//rest//x")?.path, renamed("/api/v1/x"), renamed("/?/rest/x")]).toEqual([
    "/rest/x",
    undefined,
    undefined,
  ]);
  const everything = legacyTargets("/", legacyPaths);
  expect([everything("//json/x/")?.path, everything("/")?.path]).toEqual(["/json/x", "/"]);
});

test("every path that is found lies below the interface's path", () => {
  const piece = fc.constantFrom(..."/ api v1 api_new index.php ? .. . json data # %2F x".split(" "));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const path = read(pieces.join(""))?.path;
      expect(path === undefined || /^\/api\/v1(\/[^/]+)*$/.test(path)).toBe(true);
    }),
    { numRuns: 500 },
  );
});
