import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyPath } from "../../support/anyText.ts";
import { fateOf, MAX_NAMED, proxiedWrite } from "../../../src/gateway/answer/proxiedWrites.ts";
import { legacyTargets } from "../../../src/catalogue/legacy/legacyTarget.ts";
import { catalogue } from "../../../transforms/catalogue.ts";

const knowledge = catalogue.legacyWrites;
const read = legacyTargets("/api/v1", catalogue.legacyPaths);
const form = "application/x-www-form-urlencoded";

/** A write to a path of legacy's, whose body comes in these chunks. */
const writing = (path: string, ...chunks: (string | Uint8Array)[]) => {
  const target = read(`/api/v1${path}`);
  const write = target && proxiedWrite(knowledge, "POST", target);
  for (const chunk of chunks) write?.chunk(Buffer.from(chunk as string));
  return write;
};

test("a proxied write with any body names few groups, all of its kind", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), anyPath(), (body, path) => {
      const groups = writing(`/json/data${path}`, body)?.touched().groups ?? [];
      return groups.length <= MAX_NAMED + 1 && groups.every((group) => /^datasets?(\/\d+)?$/.test(group));
    }),
  );
});

const ids = (count: number) => Array.from({ length: count }, (_, i) => `did=${i + 1}`).join("&");

describe("how many entities one write names", () => {
  test.each<[string, string, number | "all"]>([
    ["as many as it may", ids(MAX_NAMED), MAX_NAMED],
    ["one of them many times", "did=7&".repeat(900), 1],
    ["one more than it may", ids(MAX_NAMED + 1), "all"],
    ["more fields than are looked at", `${"a&".repeat(1000)}did=1`, "all"],
    ["64 KiB of them", ids(20_000), "all"],
    ["a body longer than is looked at", `did=1&${"x".repeat(70_000)}`, "all"],
  ])("%s", (_, body, expected) => {
    const write = writing("/json/data/tag", body);
    const groups = write?.touched().groups ?? [];
    expect([groups.length - 1, groups.includes("dataset")]).toEqual(expected === "all" ? [1, true] : [expected, false]);
    expect(write?.named().length).toBeLessThanOrEqual(MAX_NAMED);
  });
});

test("a body that comes byte by byte is kept in one block of at most 64 KiB", () => {
  const write = writing("/json/data/tag");
  const byte = Buffer.from("x");
  for (let i = 0; i < 100_000; i++) write?.chunk(byte);
  expect([write?.body().length, write?.isCut()]).toEqual([65_536, true]);
});

test.each([
  ["in the query", "/json/data/tag?api_key=K1", "", "K1"],
  ["in a form", "/json/data/tag", "data_id=1&api_key=K1", "K1"],
  ["the query's first, be it empty", "/json/data/tag?api_key=", "api_key=K1", undefined],
  ["0 is none", "/json/data/tag?api_key=0", "", undefined],
  ["none", "/json/data/tag", "data_id=1", undefined],
])("the key of a write: %s", (_, path, body, key) => {
  expect(writing(path, body)?.key(form)).toBe(key);
});

test.each(["/json/Data/tag", "/JSON/data/tag", "/json/x/data", "/json/constructor", "/json", "", "/json/%64ata/tag"])(
  "POST %s writes nothing that answers are about",
  (path) => {
    expect(writing(path)).toBeUndefined();
  },
);

describe("the fate of a write, by its answer", () => {
  const xml = (code: number) => `<oml:error xmlns:oml="x">\n<oml:code>${code}</oml:code></oml:error>`;
  const json = (code: number) => `{"error":{"code":"${code}","message":"m"}}`;
  const coded = '{"error":{"code":"473","message":"Entity already tagged"}}';
  test.each<[number, string, string, string]>([
    [200, "application/json; charset=utf-8", "{}", "written"],
    [200, "text/xml", "<oml:data_tag/>", "written"],
    [200, "text/xml; charset=utf-8", xml(102), "refused"],
    [200, "text/html", "<html>", "unknown"],
    [301, "text/html", "<html>", "refused"],
    [302, "application/json", "{}", "refused"],
    [400, "text/html", "<html>", "refused"],
    [404, "text/html; charset=iso-8859-1", "<html>", "refused"],
    [412, "application/json", coded, "written"],
    [412, "text/xml; charset=utf-8", xml(472), "written"],
    [412, "text/xml; charset=utf-8", xml(103), "refused"],
    [412, "text/html", "<html>", "refused"],
    [429, "application/json", '{"message":"slow down"}', "refused"],
    [450, "application/json", coded, "written"],
    [500, "application/json", coded, "written"],
    [404, "application/json", coded, "written"],
    [429, "application/json", coded, "refused"],
    [502, "application/json", coded, "unknown"],
    [500, "text/html; charset=UTF-8", "", "unknown"],
    [502, "text/html", "<html>", "unknown"],
    [503, "application/json", '{"message":"busy"}', "unknown"],
    // A gateway behind this one.
    [412, "application/json", json(107), "refused"],
    [502, "application/json", json(107), "refused"],
    [503, "text/xml; charset=utf-8", xml(107), "refused"],
    [429, "application/json", json(107), "refused"],
    [410, "application/json", json(9410), "refused"],
    [503, "application/json", json(9503), "refused"],
    [503, "text/xml; charset=utf-8", xml(9503), "refused"],
    [400, "text/xml; charset=utf-8", xml(9400), "refused"],
    [408, "application/json", json(9408), "refused"],
    [500, "application/json", json(9500), "unknown"],
    [502, "text/xml; charset=utf-8", xml(9502), "unknown"],
    [504, "application/json", json(9504), "unknown"],
  ])("%i %s %s: %s", (status, type, body, fate) => {
    expect(fateOf({ status, headers: { "content-type": type }, body: Buffer.from(body) }, knowledge.refusals)).toBe(
      fate,
    );
  });

  test("no answer: unknown", () => expect(fateOf(undefined, knowledge.refusals)).toBe("unknown"));
});
