import { sharedStyle } from "../../../libraries/ui/documentFrame.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { decodeHTMLStrict } from "entities";
import { beforeAll, describe, expect, test } from "vitest";
import type { Report } from "../../../tools/compare/report/report.ts";
import type { JsonObject } from "../../../src/catalogue/rules/rule.ts";
import { hostileTexts } from "../../support/hostileText.ts";
import { temporaryFolder } from "../../support/temporaryFolder.ts";
import { compare, openServers } from "./support.ts";

const { serve, candidate, datasets, legacy } = openServers();

/** A candidate that puts these texts into the values, and into the names of new fields. */
const spoil = (document: JsonObject): JsonObject => ({
  ...document,
  name: hostileTexts.join(" "),
  version: `${document["version"] as number}`,
  ...Object.fromEntries(hostileTexts.map((text) => [`x${text}`, text])),
});

let run: Awaited<ReturnType<typeof compare>>;
let report: Report;
beforeAll(async () => {
  const url = await candidate((document, path) => (path === "/datasets/1" ? document : spoil(document)));
  run = await compare([...datasets(url, "61,1,2,999999"), "--expected", "none", "--concurrency", "1"]);
  report = JSON.parse(run.file("report.json")) as Report;
});

test("report.json has the members that programs read", () => {
  expect(Object.keys(report)).toEqual(
    "summary endpoints statuses latency differences causes failures coverage schemaDrift skipped made sides".split(" "),
  );
  expect(report.summary).toEqual({
    compared: 4,
    equal: 2,
    explained: 0,
    expected: 0,
    drift: 0,
    unexplained: 2,
    unreadable: 0,
    failed: 0,
  });
  const version = report.differences.find(({ path }) => path === "/version");
  expect(version).toEqual({
    endpoint: "getDataset",
    path: "/version",
    form: "type",
    kind: "unexplained",
    rule: "integer",
    legacy: "1",
    expected: 1,
    candidate: "1",
    count: 2,
    answers: 2,
    curl: {
      legacy: `curl -si ${legacy()}/api/v1/json/data/61`,
      candidate: expect.stringMatching(/^curl -si http:\S+\/datasets\/61$/),
    },
  });
  expect(report.statuses).toEqual([
    { endpoint: "getDataset", from: 200, to: 200, answers: 3 },
    { endpoint: "getDataset", from: 404, to: 404, answers: 1 },
  ]);
  expect(report.latency.map(({ side }) => side)).toEqual(["legacy", "candidate"]);
});

describe("the page", () => {
  const ours = [
    sharedStyle(),
    ...["tools/compare/report/report.css", "libraries/ui/client/filter.js"].map((file) =>
      readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8"),
    ),
  ];
  /** The page without our own styles and scripts. */
  const markup = () => ours.reduce((rest, part) => rest.replace(part, () => ""), run.file("report.html"));
  /** A tag as our templates write them: attributes in double quotes, none of them a handler. */
  const tag = /<(\/?[a-z]\w*)((?:\s+(?!on)[a-zA-Z-]+(?:="[^"<>]*")?)*)\s*\/?>/g;

  test("report.html is made of our own tags, whatever the values are", () => {
    expect(markup().replace("<!doctype html>", "").replaceAll(tag, "")).not.toMatch(/[<>]/);
    expect(markup().match(/<script/g)).toHaveLength(1);
  });

  test("report.html loads nothing, and shows every difference without a script", () => {
    const page = run.file("report.html");
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).not.toMatch(/\ssrc=|@import|url\(|fetch\(|import\(/);
    const shown = decodeHTMLStrict(page);
    expect(shown).toContain("2 of 4 answers differ without a reason</h1>");
    for (const { path, rule = "", curl } of report.differences)
      for (const text of [path, rule, curl.candidate]) expect(shown).toContain(text.toWellFormed());
    expect(shown.replaceAll(/\s+/g, " ")).toMatch(
      /version<td><del>1<\/del><td><ins>"1"<\/ins><td> \? type · <code>integer<\/code> <b>unexplained<\/b>/,
    );
  });

  test("report.html has a label for every control, and every id once", () => {
    const ids = [...markup().matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of markup().matchAll(/<(?:select|input)\s+id="([^"]+)"/g))
      expect(markup()).toContain(`<label for="${id}">`);
    expect(markup()).not.toMatch(/<th(?![^>]*scope=)[\s>]/);
  });
});

test("no value in the printed report can drive the terminal or break a line", () => {
  expect(run.out.split("\n").join("")).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u);
  expect(stripVTControlCharacters(run.out)).toBe(run.out);
  expect(run.out).toMatch(/^2 of 4 answers differ without a reason\n/);
  expect(run.out).toMatch(/\ngetDataset +4 +2 +0 +0 +0 +2 +0 +0\n/);
  expect(run.out).toContain("another type; an integer was expected in getDataset");
  expect(run.out).toContain(`curl -si ${legacy()}/api/v1/json/data/61\ncurl -si http://`);
});

test("reports count wrong statuses by the cause of each", async () => {
  const url = await serve(({ url: path = "" }, response) => {
    response.writeHead(path.endsWith("/61") ? 500 : 200, { "Content-Type": "application/json" }).end("{}");
  });
  const { file, out } = await compare([...datasets(url, "14,61,999998,999999")]);
  const causes = ["1 status 200 in place of 412", "1 status 500 in place of 200", "2 status 200 in place of 404"];
  const reported = JSON.parse(file("report.json")) as Report;
  expect(reported.differences.map(({ cause = "", answers }) => `${answers} ${cause}`).toSorted()).toEqual(causes);
  expect(reported.causes.map(({ name, answers }) => `${answers} ${name}`).toSorted()).toEqual(causes);
  for (const cause of causes) for (const text of [out, file("report.html")]) expect(text).toContain(cause.slice(2));
});

test("the terminal names the lines left out of a corpus, and why", async () => {
  const corpus = join(temporaryFolder(), "access.log");
  writeFileSync(corpus, "GET /v1/evaluationmeasures/list\nGET /v1/nothing\nGET /v1/nowhere\nPOST /v1/datasets/tag\n");
  const { out } = await compare(["--legacy", legacy(), "--corpus", corpus]);
  expect(out.replaceAll(/ +/g, " ")).toContain("\nlines left out\n 2 not an endpoint\n 1 a write\n");
});

test("a candidate that invents paths fills neither memory nor report.html", async () => {
  const inventive = await candidate((document, path) => ({
    ...document,
    ...Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`${path}${i}${"x".repeat(1000)}`, i])),
  }));
  const { file, code } = await compare([...datasets(inventive, "61,1,2,3")]);
  const { differences } = JSON.parse(file("report.json")) as Report;
  expect(code).toBe(1);
  expect(differences.length).toBeLessThan(4 * 3000);
  expect(differences[0]?.path).toBe("(other paths)");
  expect(Buffer.byteLength(file("report.html"))).toBeLessThan(5_000_000);
  expect(file("report.html")).toMatch(/… and [\d,]+ more, left out to keep this page small/);
});

test("missing answers of either side are counted by reason", async () => {
  const gone = await serve((_, response) => void response.destroy());
  const { file, code, errors } = await compare(["--legacy", gone, "--ids", "1..2", "--endpoint", "getDataset"]);
  expect([code, errors]).toEqual([2, expect.stringMatching(/^2 of 2 requests could not be compared$/m)]);
  const { failures } = JSON.parse(file("report.json")) as Report;
  expect(failures).toMatchObject([{ endpoint: "getDataset", kind: "failed", count: 2 }]);
  expect(file("report.html")).toContain(failures[0]?.why);
});
