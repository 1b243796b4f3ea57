import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { longestPath } from "../../../src/features/retirement/longestPath.ts";
import { openBrownout } from "../../../src/features/retirement/openBrownout.ts";
import { pathGroup } from "../../../src/features/retirement/pathGroup.ts";
import { plainPath } from "../../../src/features/retirement/plainPath.ts";
import { window } from "./support.ts";
import { anyText } from "../../support/anyText.ts";

test.each([
  ["/api/v1/json/data/61", "/api/v1/json/data/61"],
  ["/api/v1/json?a=/b//c", "/api/v1/json"],
  ["/api/v1#x//y", "/api/v1"],
  ["//api///v1/", "/api/v1"],
  ["/api/v1/%6Ason/d%61ta", "/api/v1/json/data"],
  ["/api/v1%2Fjson", "/api/v1%2Fjson"],
  ["/api/%zz/%", "/api/%zz/%"],
  ["/", "/"],
  ["//", "/"],
  ["*", "*"],
  ["", ""],
])("plainPath %s", (target, plain) => {
  expect(plainPath(target)).toBe(plain);
});

describe("the longest path counts, by whole segments", () => {
  const paths = ["/api/v1", "/api/v1/json/data", "/api/v1/json/data/list", "/a"].map((path) => ({ path }));

  test.each([
    ["/api/v1", "/api/v1"],
    ["/api/v1/", "/api/v1"],
    ["/api/v1/json/dat", "/api/v1"],
    ["/api/v1/json/data", "/api/v1/json/data"],
    ["/api/v1/json/data/", "/api/v1/json/data"],
    ["/api/v1/json/database", "/api/v1"],
    ["/api/v1/json/data/list", "/api/v1/json/data/list"],
    ["/api/v1/json/data/list/tag/x", "/api/v1/json/data/list"],
    ["/api/v1/json/data/lists", "/api/v1/json/data"],
    ["/api/v10", undefined],
    ["/api", undefined],
    ["/A", undefined],
    ["/a", "/a"],
    ["/", undefined],
    ["*", undefined],
    ["", undefined],
  ])("%s: %s", (path, expected) => {
    expect(longestPath(paths)(path)?.path).toBe(expected);
  });

  test("/ covers what nothing else does", () => {
    const find = longestPath([{ path: "/" }, { path: "/a" }]);
    expect([find("/a/b")?.path, find("/b")?.path, find("/")?.path]).toEqual(["/a", "/", "/"]);
    expect(longestPath([])("/a")).toBeUndefined();
  });

  test("as one would find it by comparing each", () => {
    const segment = fc.constantFrom("a", "b", "ab", "");
    const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => `/${segments.join("/")}`);
    const configured = fc.array(fc.constantFrom("a", "b", "ab"), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(configured, { maxLength: 6 }), path, (lists, asked) => {
        const known = lists.map((list) => `/${list.join("/")}`);
        const below = known.filter((one) => asked === one || asked.startsWith(`${one}/`));
        const longest = below.toSorted((a, b) => b.length - a.length)[0];
        expect(longestPath(known.map((one) => ({ path: one })))(asked)?.path).toBe(longest);
      }),
    );
  });
});

describe("the brown-out that is on", () => {
  const at = (text: string) => Date.parse(`2026-11-21T${text}Z`);
  const short = { ...window, path: "/api/v1/json", until: "2026-11-21T12:30:00Z", status: 410 as const };
  const find = openBrownout([window, { ...window, until: "2026-11-21T12:10:00Z" }, short]);

  test.each([
    ["/api/v1/x", "11:59:59.999", undefined],
    ["/api/v1/x", "12:00:00", window],
    ["/api/v1/x", "12:59:59.999", window],
    ["/api/v1/x", "13:00:00", undefined],
    ["/api/v1/json/x", "12:29:00", short],
    ["/api/v1/json/x", "12:30:00", window],
    ["/api/v1/jsonx", "12:10:00", window],
    ["/api/v10", "12:10:00", undefined],
    ["/", "12:10:00", undefined],
  ])("%s at %s", (path, time, expected) => {
    expect(find(path, at(time))).toEqual(expected);
  });

  test("of /", () => {
    expect(openBrownout([{ ...window, path: "/" }])("/x", at("12:00:00"))).toMatchObject({ path: "/" });
  });
});

describe("the group of a path", () => {
  test.each([
    ["/api/v1/json/data/61", "/api/v1", "/api/v1/json/data/{id}"],
    ["/api/v1/json/data/list/tag/x", "/api/v1", "/api/v1/json/data/list"],
    ["/api/v1/data/61/x/y", "/api/v1", "/api/v1/data/{id}/x"],
    ["/api/v1/json/study/OpenML100", "/api/v1", "/api/v1/json/study/{id}"],
    ["/api/v1/json/data/aaaaaaaaaabbbbbbbbbbccccccccccdd", "/api/v1", "/api/v1/json/data/{id}"],
    ["/api/v1", "/api/v1", "/api/v1"],
    ["/api/v1/", "/api/v1", "/api/v1"],
    ["/json/data/61", "", "/json/data/{id}"],
    ["/", "", "/"],
  ])("%s below %s: %s", (path, legacyPath, group) => {
    expect(pathGroup(path, legacyPath)).toBe(group);
  });

  test("of any path it is short and has no digits, escapes or controls of the path's", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const group = pathGroup(plainPath(`/api/v1/${encodeURI(text.toWellFormed())}`), "/api/v1");
        expect(group).toMatch(/^\/api\/v1(\/([A-Za-z][A-Za-z_.-]{0,23}|\{id\})){0,3}$/);
      }),
    );
  });
});
