import { createServer } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import type { LedgerEntry } from "../../../libraries/compare/ledger.ts";
import { errorAnswer } from "../../../libraries/modern/errorAnswer.ts";
import type { Json } from "../../../src/catalogue/rules/rule.ts";
import { listen } from "../../../src/operation/network/listen.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import { endpoints } from "../../../transforms/index.ts";
import { gatewayFor, type TestGateway } from "../../support/gateway.ts";
import { settingsOf } from "../../support/settings.ts";
import { pageOfMetrics } from "../../support/metrics.ts";

const JSON_TYPE = "application/json";
const PROBLEM = "application/problem+json";
const stages = JSON.stringify(
  Object.fromEntries(Object.keys(endpoints).map((name) => [name, { stage: "modern", share: 0 }])),
);
const writer = { "X-API-Key": "00000000000000000000000000000000", "Content-Type": JSON_TYPE };

type Given = { status: number; type?: string; body: unknown };
const router: Given = { status: 404, body: { detail: "Not Found" } };
/** An error as our interface writes it, with a code or without, and as a problem. */
const coded = (code: string, message: string) => ({ detail: { code, message } });
const problem = (status: number, body: object): Given => ({ status, type: PROBLEM, body });

/** The new implementation: its answer to each path, and the requests that it got. */
let said: Given | ((path: string) => Given);
let asked: string[];
const modern = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  const { status, type = JSON_TYPE, body } = typeof said === "function" ? said(request.url ?? "") : said;
  request.resume().once("end", () => {
    response.writeHead(status, { "Content-Type": type });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
});

let sample: Awaited<ReturnType<typeof startSampleLegacy>>;
let listening: Awaited<ReturnType<typeof listen>>;
let gateway: TestGateway;
const open = (environment: Record<string, string> = {}, expected: LedgerEntry[] = []) =>
  gatewayFor(sample.url, { MODERN_URL: listening.url, STAGES: stages, CACHE_BYTES: "0", ...environment }, { expected });
beforeAll(async () => {
  sample = await startSampleLegacy();
  listening = await listen(modern);
  gateway = await open();
});
beforeEach(() => {
  asked = [];
});
afterAll(async () => {
  await gateway.close();
  await listening.close();
  await sample.close();
});

/** The answer to a request. `failed`: the endpoints for which an answer of modern has counted as a failure. */
const ask = async (path: string, init: RequestInit = {}, { app, core } = gateway) => {
  const before = core.observer.counts();
  const response = await app.request(`/v1${path}`, init);
  const counts = Object.entries(core.observer.counts()).filter(([name, count]) => count > (before[name] ?? 0));
  return {
    status: response.status,
    body: await response.json(),
    backend: /backend=(\w+)/.exec(response.headers.get("gateway-decision") ?? "")?.[1],
    challenge: response.headers.get("www-authenticate"),
    failed: counts.flatMap(([name]) => /^modern_failed (\w+)/.exec(name)?.[1] ?? []),
  };
};

describe("a 4xx that is not one of the endpoint's outcomes is not served: legacy answers", () => {
  test.each<[string, Given]>([
    ["a router's 404", router],
    ["a proxy's 404", { status: 404, type: "text/html", body: "<h1>Not Found</h1>" }],
    ["a 404 with a code that means another status", { status: 404, body: coded("112", "No access granted") }],
    ["a 404 with a code that legacy does not have", { status: 404, body: coded("9999", "Gone") }],
    ["a coded 404 of another type", { status: 404, type: "text/plain", body: coded("111", "Unknown dataset") }],
    ["a coded 404 without a message", { status: 404, body: { detail: { code: "111" } } }],
    ["another endpoint's 404 in words", { status: 404, body: { detail: "Flow not found." } }],
    ["a problem of another endpoint", problem(404, { type: "https://x/problems/flow-not-found" })],
    ["a problem named as a member of every object", problem(404, { type: "constructor" })],
    ["a problem with a code of another status", problem(403, { code: "111" })],
    ["a validation problem", problem(422, { detail: "Input validation failed.", errors: [] })],
    ["an empty list of input errors", { status: 422, body: { detail: [] } }],
    ["a 200 that is an error", { status: 200, body: { detail: "Not Found" } }],
    ["a redirect", { status: 307, body: {} }],
  ])("legacy answers in place of modern's answer: %s", async (_, given) => {
    said = given;
    const answer = await ask("/datasets/61");
    expect(answer).toMatchObject({ status: 200, backend: "legacy", body: { name: "iris" }, failed: ["getDataset"] });
    expect(asked).toEqual(["GET /datasets/61"]);
  });

  test("a failure of modern is in the metrics", async () => {
    expect(await pageOfMetrics(gateway.core.meter)).toMatch(/modern_failed.* [1-9]\d*\n/);
  });
});

test.each<[type: string, backend: string]>([
  ["application/json; charset=utf-8", "modern"],
  ["Application/JSON", "modern"],
  ["text/html", "legacy"],
  [PROBLEM, "legacy"],
  ["application/json5", "legacy"],
  ["", "legacy"],
])('a document of type "%s" is served by %s', async (type, backend) => {
  said = { status: 200, type, body: ["of-modern"] };
  const { body, ...answer } = await ask("/evaluationmeasures/list");
  const failed = backend === "modern" ? [] : ["listEvaluationMeasures"];
  expect(answer).toMatchObject({ status: 200, backend, failed });
  expect(JSON.stringify(body) === '["of-modern"]').toBe(backend === "modern");
});

test("each endpoint has codes of its own for not found, conflict and gone", () => {
  const served: string[] = [];
  for (const { code, kind } of catalogue.errors.values())
    for (const status of ["notFound", "conflict", "gone"].includes(kind) ? [404, 409, 410] : [])
      for (const [contentType, body] of [
        [JSON_TYPE, { detail: { code: String(code), message: "words" } }],
        [PROBLEM, { code: String(code) }],
      ] as const)
        for (const name of ["getDataset", "getStudy"] as const) {
          const given = { status, contentType, text: JSON.stringify(body) };
          if (errorAnswer(endpoints[name], catalogue.errors, given, body)) served.push(`${name} ${code} ${status}`);
        }
  expect(new Set(served)).toEqual(new Set(["getDataset 111 404", "getStudy 601 404", "getStudy 603 410"]));
  expect(served).toHaveLength(6);
});

describe("an outcome of the endpoint is served", () => {
  const gone = { detail: "Legacy studies are no longer supported." };
  const misfit = { detail: [{ loc: ["path"], msg: "no", type: "x" }] };
  test.each<[string, Given, unknown]>([
    ["/datasets/61", { status: 404, body: coded("111", "in other words") }, coded("111", "in other words")],
    ["/datasets/61", { status: 412, body: coded("113", "No data file found") }, coded("113", "No data file found")],
    [
      "/datasets/61",
      { ...problem(403, { code: "112" }), type: `${PROBLEM}; charset=utf-8` },
      coded("112", "No access granted"),
    ],
    ["/datasets/61", problem(404, { code: 111 }), coded("111", "Unknown dataset")],
    ["/flow/exists/a/1", { status: 404, body: { detail: "Flow not found." } }, { detail: "Flow not found." }],
    ["/studies/7000", { status: 410, body: gone }, gone],
    ["/datasets/61", { status: 422, body: misfit }, misfit],
  ])("modern's outcome of %s is served: %j", async (path, given, body) => {
    said = given;
    expect(await ask(path)).toMatchObject({ status: given.status, body, backend: "modern", failed: [] });
  });

  test.each(["getStudy", "attachToStudy", "detachFromStudy", "updateStudyStatus"] as const)(
    "modern's problem of a private study is served as 403 with code 112: %s",
    (name) => {
      const { body } = problem(403, { type: "https://x/problems/study-private" });
      const given = { status: 403, contentType: PROBLEM, text: JSON.stringify(body) };
      const answer = errorAnswer(endpoints[name], catalogue.errors, given, body as Json);
      expect([answer?.status, JSON.parse(String(answer?.body))]).toEqual([403, coded("112", "No access granted")]);
    },
  );

  test("modern's 401 is served with a WWW-Authenticate header", async () => {
    said = { status: 401, body: coded("103", "Authentication failed") };
    expect((await ask("/datasets/61")).challenge).toBe('Bearer realm="catalogue"');
  });
});

describe("qualities that modern calls unknown", () => {
  const unknown = { status: 404, body: coded("361", "Unknown dataset") };
  const noAccess = { status: 403, body: coded("112", "No access granted") };
  const here = { status: 404, body: coded("111", "Unknown dataset") };
  test.each<[title: string, dataset: Given, answer: object]>([
    ["403 where modern shows no access to the dataset", noAccess, { ...noAccess, backend: "modern" }],
    ["404 where modern knows no such dataset", here, { ...unknown, backend: "modern" }],
    ["what legacy answers where modern gives no answer about the dataset", router, { status: 403, backend: "legacy" }],
  ])("qualities that modern calls unknown are %s", async (_, dataset, answer) => {
    said = (path) => (path.includes("/qualities/") ? unknown : dataset);
    expect(await ask("/datasets/qualities/16")).toMatchObject(answer);
    expect(asked).toEqual(["GET /datasets/qualities/16", "GET /datasets/16"]);
  });

  test("qualities that modern shows take one request", async () => {
    said = { status: 200, body: [{ name: "NumberOfClasses", value: 3 }] };
    expect(await ask("/datasets/qualities/61")).toMatchObject({ status: 200, backend: "modern" });
    expect(asked).toEqual(["GET /datasets/qualities/61"]);
  });
});

test("a write that modern's router refuses is 502, and goes to no other side", async () => {
  said = { status: 405, body: { detail: "Method Not Allowed" } };
  const body = JSON.stringify({ data_id: 61, tag: "never-sent" });
  expect(await ask("/datasets/tag", { method: "POST", headers: writer, body })).toMatchObject({
    status: 502,
    body: { detail: "The new implementation gave no answer." },
    backend: "modern",
    failed: ["getDataset", "tagDataset"],
  });
  expect(asked.filter((line) => line.startsWith("POST")).length).toBe(1);
  expect(JSON.stringify((await ask("/datasets/61")).body)).not.toContain("never-sent");
});

test("modern is asked by the operator's route, else by the definition's", async () => {
  said = router;
  for (const path of ["/flow/exists/a/1", "/flows/exists/a/2", "/evaluationmeasures/list"]) await ask(path);
  expect(asked).toEqual(["GET /flows/exists/a/1", "GET /flows/exists/a/2", "GET /evaluationmeasure/list"]);
  asked = [];
  const routes = { findFlow: "GET /v2/{external_version}/flow/{name}/", tagDataset: "POST /tags" };
  const routed = await open({ MODERN_ROUTES: JSON.stringify(routes) });
  onTestFinished(routed.close);
  await ask("/flow/exists/a/1", {}, routed);
  await ask("/datasets/tag", { method: "POST", headers: writer, body: '{"data_id":61,"tag":"x"}' }, routed);
  const key = "api_key=00000000000000000000000000000000";
  expect(asked).toEqual(["GET /v2/1/flow/a/", `GET /datasets/61?${key}`, `POST /tags?${key}`]);
});

test.each<[string, string]>([
  [
    '{"findFlow": "GET /flow/{name}"}',
    'MODERN_ROUTES: findFlow "GET /flow/{name}" given; allowed is the same method and the same names as in GET /flow',
  ],
  ['{"tagDataset": "GET /tag"}', "allowed is the same method"],
  ['{"getNothing": "GET /nothing/{id}"}', 'MODERN_ROUTES: unknown endpoint "getNothing" given'],
  [
    '{"tagDataset": "POST /../x"}',
    'MODERN_ROUTES: tagDataset "POST /../x" given; allowed are segments other than . and ..',
  ],
  ['{"tagDataset": "POST /tags/."}', 'MODERN_ROUTES: tagDataset "POST /tags/." given'],
  ['{"getStudy": "GET http://elsewhere/{id_or_alias}"}', "MODERN_ROUTES.getStudy: "],
  ['{"getStudy": "GET //elsewhere/{id_or_alias}"}', "MODERN_ROUTES.getStudy: "],
])("MODERN_ROUTES %s stops the start", (text, message) => {
  expect(settingsOf({ MODERN_ROUTES: text })).toMatchObject({ errors: [expect.stringContaining(message)] });
});

describe("a document that does not fit", () => {
  const study = { id: 99, creation_date: "2021-02-03T04:05:06" };
  const deep = JSON.parse(`${"[".repeat(100)}${"]".repeat(100)}`) as Json;
  const deepest = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const allowed = { id: "all", endpoint: "*", path: "/**", kind: "*", reason: "known", owner: "us" } as const;
  let lenient: TestGateway;
  beforeAll(async () => {
    lenient = await open({}, [{ ...allowed, until: "2999-01-01" }]);
  });
  afterAll(() => lenient.close());

  test.each<[title: string, backend: "modern" | "legacy", document: unknown]>([
    ["fits", "modern", study],
    ["has a wrong value", "legacy", { ...study, creation_date: "yesterday" }],
    ["has a wrong entry", "legacy", { ...study, task_ids: [1, "two"] }],
    ["is nested too deep", "legacy", { ...study, more: deep }],
    ["is nested deeper than any stack", "legacy", `{"name":${deepest}}`],
  ])("a document that %s is answered by %s, even if the ledger allows it", async (_, backend, document) => {
    said = { status: 200, body: document };
    expect((await ask("/studies/99", {}, lenient)).backend).toBe(backend);
  });
});

test("errorAnswer never throws; its answers have modern's status and a detail", () => {
  const code = fc.oneof(fc.constantFrom("111", "112", "372", "601", 113, "103"), fc.jsonValue());
  const detail = fc.oneof(fc.record({ code, message: fc.string() }), fc.jsonValue(), fc.constant("Not Found"));
  const type = fc.oneof(fc.constantFrom("x/study-not-found", "__proto__", "x/constructor"), fc.jsonValue());
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.values(endpoints)),
      fc.integer({ min: 400, max: 499 }),
      fc.constantFrom(JSON_TYPE, PROBLEM, "text/html", ""),
      fc.oneof(fc.record({ detail }), fc.record({ code, type }), fc.jsonValue()),
      (endpoint, status, contentType, document) => {
        const text = JSON.stringify(document);
        const answer = errorAnswer(endpoint, catalogue.errors, { status, contentType, text }, document as Json);
        if (answer === undefined) return;
        expect(answer.status).toBe(status);
        expect(JSON.parse(answer.body.toString())).toHaveProperty("detail");
        expect(document).not.toEqual({ detail: "Not Found" });
      },
    ),
    { numRuns: 2000 },
  );
});
