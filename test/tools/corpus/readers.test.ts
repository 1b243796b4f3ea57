import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCorpus } from "../../../tools/corpus/readCorpus.ts";
import { trafficOfLine } from "../../../tools/corpus/trafficLine.ts";
import { fileOf, KEY, mapper, taken } from "./support.ts";
import { anyText } from "../../support/anyText.ts";

const at = "[04/Apr/2021:04:04:04 +0000]";
const from = `192.0.2.1 - - ${at}`;
const get = (url: string, status?: number) => ({ method: "GET", url, keys: [], ...(status ? { status } : {}) });

const post = { ...get("/a", 200), method: "POST", body: "{}" };

describe("a line", () => {
  test.each([
    // Access logs.
    ["combined", `${from} "GET /a HTTP/1.1" 200 512 "-" "curl/8.0 [x] \\"y\\""`, get("/a", 200)],
    ["common", `192.0.2.1 - alice ${at} "GET /a HTTP/1.0" 404 -`, get("/a", 404)],
    ["with a virtual host", `a.example:443 ${from} "GET /a HTTP/2.0" 200 1 "-" "-"`, get("/a", 200)],
    ["over IPv6", `2001:db8::1 - - ${at} "GET /a HTTP/1.1" 200 1`, get("/a", 200)],
    ["with quotes and bytes", `${from} "GET /a\\"b\\xC3\\xBC\\\\ HTTP/1.1" 422 1`, get("/a%22b%C3%BC%5C", 422)],
    ["no request", `${from} "-" 408 0`, undefined],
    ["a TLS greeting", `${from} "\\x16\\x03\\x01" 400 0`, undefined],
    // Lines of JSON.
    ["nginx", `{"time":"x","request":"GET /a HTTP/1.1","status":"404"}`, get("/a", 404)],
    ["nginx, its variables", `{"request_method":"GET","request_uri":"/a?b=1","status":200}`, get("/a?b=1", 200)],
    ["nginx, a query", `{"method":"GET","uri":"/a","args":"api_key=x","status":200}`, get("/a?api_key=x", 200)],
    ["nginx, a body", `{"request":"POST /a HTTP/1.1","request_body":"{}","status":200}`, post],
    [
      "Caddy",
      `{"level":"info","request":{"method":"GET","uri":"/a","headers":{"Authorization":["REDACTED"]}},"status":200}`,
      { ...get("/a", 200), keys: ["REDACTED"] },
    ],
    [
      "pino",
      `{"req":{"method":"GET","url":"/a","headers":{"x-api-key":"x"}},"res":{"statusCode":304}}`,
      { ...get("/a", 304), keys: ["x"] },
    ],
    ["flat, snake case", `{"method":"GET","target":"/a","status_code":500}`, get("/a", 500)],
    ["a response", `{"method":"GET","url":"/a","response":{"status":410}}`, get("/a", 410)],
    ["an invalid status", `{"method":"GET","url":"/a","status":"ok"}`, get("/a")],
    ["another's password", `{"method":"GET","url":"/a","headers":{"authorization":"Basic eDp5"}}`, get("/a")],
    ["no method", `{"url":"/a"}`, undefined],
    ["broken", `{"method":"GET","url":"/a"`, undefined],
    // Lists.
    ["a path", "/v1/datasets/61", get("/v1/datasets/61")],
    ["a method before", "HEAD\t/v1/datasets/61", { ...get("/v1/datasets/61"), method: "HEAD" }],
    ["the first of a file", "\uFEFF/a", get("/a")],
    ["a comment", "# /v1/datasets/61", "nothing"],
    ["words", "these are words", undefined],
  ])("a line of traffic is read: %s", (_, line, expected) => {
    expect(trafficOfLine(line)).toEqual(expected);
  });

  test("no line of traffic makes the reader throw", () => {
    const odd = fc.oneof(
      anyText(),
      fc.json(),
      fc
        .json()
        .map(
          (json) =>
            `{"request":${json},"req":${json},"method":${json},"url":${json},"status":${json},"headers":${json}}`,
        ),
      fc.string().map((text) => `${from} "${text}" 200 1`),
    );
    fc.assert(
      fc.property(odd, (line) => void trafficOfLine(line)),
      { numRuns: 500 },
    );
  });

  test.each([
    `[aaaaaaaaaaaa] "${"\\x".repeat(500_000)}`,
    '[aaaaaaaaaaaa] "'.repeat(60_000),
    "[".repeat(1_000_000),
    `{"a":${"[".repeat(900_000)}`,
  ])("a very long line of traffic is refused soon: %.20s", (line) => {
    expect(trafficOfLine(line)).toBeUndefined();
  });
});

test("a log is read line by line, and skipped lines are counted by reason", async () => {
  const line = (request: string, status: number) => `${from} "${request} HTTP/1.1" ${status} 99 "-" "-"`;
  const { requests, skipped } = await taken(
    [
      line("GET /v1/datasets/61", 200),
      line(`GET /v1/datasets/61?api_key=${KEY}`, 200),
      line("GET /api/v1/json/data/61", 412),
      line("GET /", 200),
      line("POST /v1/datasets/list", 200),
      line("POST /v1/setup/tag", 200),
      line(`GET /v1/studies/${KEY}`, 404),
      line("GET /api/v1/json/data/abc", 412),
      "",
      "# nothing",
      "what is this",
      `/v1/${"x".repeat(2_000_000)}`,
      "/v1/datasets/61",
    ].join("\r\n"),
  );
  const ask = { endpoint: "getDataset", method: "GET", path: "/datasets/61", keyed: false, shape: "dataset_id=number" };
  expect(requests).toEqual([
    { ...ask, status: 200 },
    { ...ask, keyed: true, status: 200 },
    { ...ask, status: 412 },
    ask,
  ]);
  expect(skipped).toEqual({
    "not an endpoint": 1,
    "a POST without its body": 1,
    "a write": 1,
    "a key where none belongs": 1,
    "only for legacy": 1,
    "not understood": 1,
    "too long": 1,
  });
});

test("a corpus that cannot be read is an error with its name", async () => {
  const file = `${fileOf("")}.none`;
  await expect(Array.fromAsync(readCorpus(file, mapper))).rejects.toThrow(`${file} cannot be read: ENOENT`);
});
