import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  isDatabaseErrorPage,
  isPage,
  type Judgement,
  judgementOf,
  needsDecoding,
} from "../../../src/catalogue/legacy/judgement.ts";
import { legacyTargets } from "../../../src/catalogue/legacy/legacyTarget.ts";
import { NOTICE } from "../../../src/catalogue/legacy/reading.ts";
import { legacyPaths } from "../../../transforms/legacyInterface.ts";

const read = legacyTargets("/api/v1", legacyPaths);

type GivenAnswer = { method?: string; path?: string; status?: number; type?: string; body?: string | undefined };

/** The judgement of an answer; a member that is left out is that of a dataset in JSON. */
const judge = (answer: GivenAnswer): Judgement | "nothing" => {
  const { method = "GET", path = "/api/v1/json/data/61", status = 200, type = "application/json" } = answer;
  const body = "body" in answer ? answer.body : '{"data_set_description":{"id":"61"}}';
  const beginning = body === undefined ? undefined : Buffer.from(body);
  return judgementOf({ method, target: read(path), status, type, beginning }) ?? "nothing";
};

const json = (code: string) => `{"error":{"code":"${code}","message":"a"}}`;
const xml = (code: string) =>
  `<oml:error xmlns:oml="http://openml.org/openml">\n\t<oml:code>${code}</oml:code>\n</oml:error>`;
const page = "<!DOCTYPE html>\n<html><body>a</body></html>";
const nginxPage = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n";
const notices = `\n${NOTICE}\n<h4>A PHP Error was encountered</h4></div>`;

describe("an answer that says nothing of legacy", () => {
  test.each<[string, GivenAnswer]>([
    ["304", { status: 304, body: "" }],
    ["a HEAD's", { method: "HEAD", status: 502, body: "" }],
    ["a schema", { path: "/api/v1/xsd/openml.data.upload", body: "<!-- a schema" }],
    ["a schema's 107", { path: "/api/v1/xml/xsd/openml.data.upload", status: 412, body: xml("107") }],
    ["the website's page", { path: "/", status: 503, body: page }],
    ["a data file", { path: "/data/v1/download/61/a.arff", body: "@RELATION a" }],
    ["a coded body that cannot be decoded", { status: 412, body: undefined }],
  ])("an answer says nothing of legacy: %s", (_, answer) => {
    expect(judge(answer)).toBe("nothing");
  });
});

describe("an answer that shows a failure of legacy", () => {
  test.each<[string, GivenAnswer]>([
    ...[429, 502, 503, 504].map((status): [string, GivenAnswer] => [
      `a page of ${status}`,
      { status, body: nginxPage },
    ]),
    ["503 with JSON", { status: 503 }],
    ...[429, 502, 503, 504].map((status): [string, GivenAnswer] => [
      `an error of ${status}`,
      { status, body: json("111") },
    ]),
    ["a document with 404", { status: 404 }],
    ["an error of a gateway", { status: 410, body: json("9410") }],
    ...[301, 302, 307, 308].map((status): [string, GivenAnswer] => [
      `a redirection, ${status}`,
      { status, body: page },
    ]),
    ["107 as XML", { status: 412, type: "text/xml", body: xml("107") }],
    ["107 as JSON", { status: 412, body: json("107") }],
    ["107 behind a declaration", { status: 412, body: `<?xml version="1.0"?>\n${xml("107")}` }],
    ["107 to a write", { method: "POST", path: "/api/v1/json/data/tag", status: 412, body: xml("107") }],
    ["404 of an ordinary path", { status: 404, body: page }],
    ["404 of an odd path that is no page", { path: "/api/v1/json/data/a%20b", status: 404, body: "not found" }],
    ["403 of an odd path that is no page", { path: "/api/v1/json/data/a+b", status: 403, body: "{}" }],
    ["400 of an ordinary path", { status: 400, body: page }],
    ["204", { status: 204, body: "" }],
    ["a maintenance page that is called JSON", { body: `\r\n ${page}` }],
    ["a page of 500", { status: 500, type: "text/html", body: page }],
    ["an empty 200", { body: "" }],
    ["XML that is not legacy's", { type: "text/xml", body: '<?xml version="1.0"?><html/>' }],
    ["a text", { body: "Database connection error." }],
  ])("an answer shows a failure of legacy: %s", (_, answer) => {
    expect(judge(answer)).toBe("ill");
  });
});

describe("an answer that shows a failure of this request alone", () => {
  test.each<[string, GivenAnswer]>([
    ["an empty 500", { status: 500, type: "text/html", body: "" }],
    ["an empty 500 to a write", { method: "POST", path: "/api/v1/json/data/tag", status: 500, body: "\n" }],
    ["PHP's notices with 500", { status: 500, type: "text/html", body: notices }],
    ...[400, 403, 404].map((status): [string, GivenAnswer] => [
      `a page of ${status} for a path with an escape`,
      { path: "/api/v1/json/flow/exists/a%2Fb/1", status, body: page },
    ]),
    ...["a+b", "a;b", "a b", "a=b", "a@b", "\u00E9"].map((name): [string, GivenAnswer] => [
      `a page for ${name}`,
      { path: `/api/v1/json/flow/exists/${name}/1`, status: 400, body: page },
    ]),
  ])("an answer shows a failure of this request alone: %s", (_, answer) => {
    expect(judge(answer)).toBe("failed");
  });
});

describe("an answer that refuses the request", () => {
  test.each<[string, GivenAnswer]>([
    ["a page of 403", { status: 403, body: nginxPage }],
    ["an empty 403", { status: 403, body: "" }],
    [
      "403 of a path of all ordinary characters",
      { path: "/api/v1/json/flow/exists/aZ.~(_),:-/9", status: 403, body: "" },
    ],
    ["403 of an ordinary path with any query", { path: "/api/v1/json/data/61?a=%20b", status: 403, body: page }],
  ])("an answer refuses the request: %s", (_, answer) => {
    expect(judge(answer)).toBe("refused");
  });
});

describe("an answer by legacy itself", () => {
  test.each<[string, GivenAnswer]>([
    ["a document in JSON", {}],
    ["a document behind a declaration", { type: "text/xml", body: '<?xml version="1.0"?>\n<oml:flow>' }],
    ["a document that cannot be parsed", { body: '{"a":"\n' }],
    ["a part of a document", { status: 206, body: '{"data_set' }],
    ["an error", { status: 412, body: json("1071") }],
    ...[200, 301, 400, 401, 403, 404, 409, 410, 422, 450, 500].flatMap((status): [string, GivenAnswer][] => [
      [`an error of ${status}`, { status, body: json("111") }],
      [`an error of ${status} in XML`, { status, type: "text/xml", body: xml("112") }],
    ]),
    ["a document of number 107", { body: '{"flow":{"id":"107"}}' }],
    ["a declaration alone", { type: "text/xml", body: '<?xml version="1.0" encoding="utf-8"?>\n' }],
    ["the first bytes of a document", { type: "text/xml", body: "<om" }],
    ["PHP's notices before a document", { body: `${notices}{"a":{}}` }],
    ["PHP's notices before an error", { status: 412, type: "text/xml", body: `${notices}${xml("103")}` }],
    ["a coded body that need not be decoded", { body: undefined }],
    ["a tag named xsd", { path: "/api/v1/json/data/list/tag/xsd" }],
    ["one by another of legacy's spellings", { path: "/index.php?/api/v1/json/data/61" }],
  ])("an answer is by legacy itself: %s", (_, answer) => {
    expect(judge(answer)).toBe("own");
  });

  // The first 1 KiB is read: for a server that shows its errors publicly, more of each answer would have to be held.
  test("code 107 behind 15 KiB of PHP's notices is not caught", () => {
    expect(judge({ type: "text/html", body: notices.repeat(150) + xml("107") })).toBe("own");
  });
});

/** Answers of the real server, one of each shape: well, with notices shown, without its database, without a table. */
const recorded = readFileSync(new URL("../../../fixtures/judgements.tsv", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .slice(1)
  .map((line) => line.split("\t") as [string, string, string, string, string, string]);

test("each recorded answer has the judgement that its reader gave it", () => {
  const judged = recorded.map(([, method, status, type, text, path]) => {
    const body = JSON.parse(`"${text.replaceAll('"', String.raw`\"`)}"`) as string;
    return [judge({ method, path, status: Number(status), type, body }), method, status, type, text, path];
  });
  expect(judged).toEqual(recorded);
  expect(new Set(judged.map(([judgement]) => judgement))).toEqual(new Set(["nothing", "ill", "failed", "own"]));
});

test("only the first 512 bytes of a body decide", () => {
  const behind = (blanks: number) => judge({ body: `${" ".repeat(blanks)}{}` });
  expect([behind(511), behind(512)]).toEqual(["own", "ill"]);
});

test("a coded body is decoded unless it comes with 200 and a type that legacy sends", () => {
  const cases: [number, string][] = [
    [200, "application/json; charset=utf-8"],
    [200, "text/xml"],
    [200, "text/html"],
    [200, ""],
    [412, "application/json"],
  ];
  expect(cases.map(([status, type]) => needsDecoding(status, type))).toEqual([false, false, true, true, true]);
});

test.each([
  [page, true],
  [nginxPage, true],
  ["\uFEFF\n <HTML lang=en>", true],
  ["<!doctype html>", true],
  [notices, false],
  ["<oml:flow>", false],
  ['{"a":"<html>"}', false],
  ["", false],
])("%j is a page: %s", (text, expected) => {
  expect(isPage(Buffer.from(text))).toBe(expected);
});

describe("legacy's error without a database in place of a data file", () => {
  const text = "Database connection error. Please wait and try again. ";
  const answer = {
    method: "GET",
    path: "/data/v1/download/61/a.arff",
    type: "text/html; charset=UTF-8",
    length: 97 as number | undefined,
    beginning: Buffer.from(text) as Buffer | undefined,
  };
  test.each<[boolean, string, Partial<typeof answer>]>([
    [true, "by another of its paths", { path: "/data/download/61" }],
    [true, "of splits", { path: "/api_splits/get/1/a.arff" }],
    [true, "below another path", { path: "/openml/data/v1/download/61/a.arff" }],
    [true, "without a length", { length: undefined }],
    [false, "of more than 1 KiB without a length", { length: undefined, beginning: Buffer.from(text.padEnd(1025)) }],
    [false, "coded", { beginning: undefined }],
    [false, "with other words", { beginning: Buffer.from("@RELATION a") }],
  ])("is seen (%s) %s", (expected, _, about) => {
    expect(isDatabaseErrorPage({ ...answer, ...about }, legacyPaths.files)).toBe(expected);
  });
});
