import type { IncomingMessage, ServerResponse } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readPairs } from "../../fixtures/pairs.ts";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import type { GatewayParts } from "../support/gateway.ts";
import { type Ledger, openLedger } from "../../src/compare/ledger.ts";
import type { Endpoint } from "../../src/endpoint/endpoint.ts";
import { errorAnswer } from "../../src/modern/errorAnswer.ts";
import { firstUnexpected, MAX_MISFITS, misfitsOf } from "../../src/compare/fits.ts";
import type { Json } from "../../src/rules/rule.ts";
import { catalogue } from "../../transforms/catalogue.ts";
import { endpoints } from "../../transforms/index.ts";
import { gatewayFor } from "../support/gateway.ts";
import { settingsOf } from "../support/settings.ts";
import { httpUpstream } from "../proxy/support.ts";

const JSON_TYPE = "application/json";
const PROBLEM = "application/problem+json";
const stages = JSON.stringify(
  Object.fromEntries(Object.keys(endpoints).map((name) => [name, { stage: "modern", share: 0 }])),
);
const writer = { "X-API-Key": "00000000000000000000000000000000", "Content-Type": JSON_TYPE };

type Given = { status: number; type?: string; body: unknown };
const router: Given = { status: 404, body: { detail: "Not Found" } };

let said: Given = router;
let asked: string[] = [];
let sample: Awaited<ReturnType<typeof startSampleLegacy>>;
beforeAll(async () => {
  sample = await startSampleLegacy();
});
afterAll(() => sample.close());

/** A new implementation that gives all requests the same answer. */
const startModern = (): Promise<string> => {
  asked = [];
  return httpUpstream((request: IncomingMessage, response: ServerResponse) => {
    asked.push(`${request.method} ${request.url}`);
    const { status, type = JSON_TYPE, body } = said;
    request.resume().once("end", () => {
      response.writeHead(status, { "Content-Type": type });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    });
  });
};

const over = async (environment: Record<string, string> = {}, parts: GatewayParts = {}) => {
  const settings = { MODERN_URL: await startModern(), STAGES: stages, ...environment };
  const { app, services, close } = await gatewayFor(sample.url, settings, { expected: [], ...parts });
  onTestFinished(close);
  return {
    failures: () =>
      Object.fromEntries(
        Object.entries(services.observer.counts()).filter(([name]) => name.startsWith("modern_failed")),
      ),
    metrics: () => services.meter.registry.metrics(),
    ask: async (path: string, init: RequestInit = {}) => {
      const response = await app.request(`/v1${path}`, init);
      const { status, headers } = response;
      return {
        status,
        body: await response.json(),
        backend: /backend=(\w+)/.exec(headers.get("gateway-decision") ?? "")?.[1],
        challenge: headers.get("www-authenticate"),
      };
    },
  };
};

describe("a 4xx that is not one of the endpoint's outcomes is not served: legacy answers", () => {
  test.each<[string, Given]>([
    ["a router's 404", router],
    ["a router's 405", { status: 405, body: { detail: "Method Not Allowed" } }],
    ["a proxy's 404", { status: 404, type: "text/html", body: "<h1>Not Found</h1>" }],
    ["a 400 in words", { status: 400, body: { detail: "There was an error parsing the body" } }],
    [
      "a 404 with a code that means another status",
      { status: 404, body: { detail: { code: "112", message: "No access granted" } } },
    ],
    [
      "a 404 with a code that legacy does not have",
      { status: 404, body: { detail: { code: "9999", message: "Gone" } } },
    ],
    [
      "a coded 404 of another content type",
      { status: 404, type: "text/plain", body: { detail: { code: "111", message: "Unknown dataset" } } },
    ],
    ["a coded 404 without a message", { status: 404, body: { detail: { code: "111" } } }],
    ["another endpoint's 404 by its code", { status: 404, body: { detail: { code: "372", message: "No results" } } }],
    ["another endpoint's 404 as a problem", { status: 404, type: PROBLEM, body: { code: "181" } }],
    ["another endpoint's 409", { status: 409, body: { detail: { code: "473", message: "Entity already tagged" } } }],
    ["another endpoint's 410", { status: 410, body: { detail: { code: "603", message: "No tags" } } }],
    ["another endpoint's 404 in words", { status: 404, body: { detail: "Flow not found." } }],
    [
      "a problem without a code",
      { status: 404, type: PROBLEM, body: { type: "about:blank", status: 404, detail: "?" } },
    ],
    [
      "a problem of another endpoint",
      { status: 404, type: PROBLEM, body: { type: "https://x/problems/flow-not-found" } },
    ],
    ["a problem named as a member of every object", { status: 404, type: PROBLEM, body: { type: "constructor" } }],
    ["a problem with a code of another status", { status: 403, type: PROBLEM, body: { code: "111" } }],
    ["a validation problem", { status: 422, type: PROBLEM, body: { detail: "Input validation failed.", errors: [] } }],
    ["an empty list of input errors", { status: 422, body: { detail: [] } }],
    ["a 200 that is an error", { status: 200, body: { detail: "Not Found" } }],
    ["a redirect", { status: 307, body: {} }],
  ])("%s", async (_, given) => {
    said = given;
    const { ask, failures, metrics } = await over();
    expect(await ask("/datasets/61")).toMatchObject({ status: 200, backend: "legacy", body: { name: "iris" } });
    expect(asked).toEqual(["GET /datasets/61"]);
    expect(failures()).toEqual({ "modern_failed getDataset": 1 });
    expect(await metrics()).toMatch(/modern_failed.* 1\n/);
  });
});

describe("a document is served as application/json alone", () => {
  test.each([JSON_TYPE, "application/json; charset=utf-8", "Application/JSON"])("%s is served", async (type) => {
    said = { status: 200, type, body: ["of-modern"] };
    const { ask, failures } = await over();
    expect(await ask("/evaluationmeasures/list")).toMatchObject({ backend: "modern", body: ["of-modern"] });
    expect(failures()).toEqual({});
  });

  test.each(["text/html", "text/plain; charset=utf-8", PROBLEM, "application/json5", ""])(
    '"%s" is not: legacy answers, and it counts',
    async (type) => {
      said = { status: 200, type, body: ["of-modern"] };
      const { ask, failures } = await over();
      const answer = await ask("/evaluationmeasures/list");
      expect(answer).toMatchObject({ status: 200, backend: "legacy" });
      expect(answer.body).not.toEqual(["of-modern"]);
      expect(failures()).toEqual({ "modern_failed listEvaluationMeasures": 1 });
    },
  );
});

test("of what says not found, conflict or gone, an endpoint has its own codes", () => {
  const own = new Set(["notFound", "conflict", "gone"]);
  const served = (endpoint: Endpoint) =>
    Array.from(catalogue.errors.values(), ({ code, kind }) => {
      if (!own.has(kind)) return [];
      const statuses = [404, 409, 410].filter((status) => {
        const body = { detail: { code: String(code), message: "words" } };
        const problem = { code: String(code) };
        const given = { status, text: JSON.stringify(body) };
        const answers = [
          errorAnswer(endpoint, catalogue.errors, { ...given, contentType: JSON_TYPE }, body),
          errorAnswer(endpoint, catalogue.errors, { ...given, contentType: PROBLEM }, problem),
        ];
        expect(answers[0] === undefined).toBe(answers[1] === undefined);
        return answers[0] !== undefined;
      });
      return statuses.map((status) => `${code} ${status}`);
    }).flat();
  const tagged = ["472 404", "473 409", "474 409"];
  const untagged = ["472 404", "475 404"];
  expect(Object.fromEntries(Object.entries(endpoints).map(([name, one]) => [name, served(one)]))).toMatchObject({
    getDataset: ["111 404"],
    listDatasets: ["372 404"],
    tagDataset: tagged,
    untagDataset: untagged,
    getSetup: ["281 404"],
    tagSetup: tagged,
    untagSetup: untagged,
    getStudy: ["601 404", "603 410"],
    findFlow: [],
    listEstimationProcedures: ["500 404"],
    listEvaluationMeasures: [],
  });
});

test("what the answers of the fixtures say can be served of each endpoint", () => {
  for (const { endpoint: name, example, answer } of readPairs()) {
    const { status, body } = answer;
    if (![404, 409, 410].includes(status)) continue;
    const given = { status, contentType: JSON_TYPE, text: JSON.stringify(body) };
    const endpoint = endpoints[name as keyof typeof endpoints];
    const served = errorAnswer(endpoint, catalogue.errors, given, body as Json);
    expect([name, example, served?.status]).toEqual([name, example, status]);
  }
});

describe("an outcome of the endpoint is served", () => {
  const coded = (code: string, message: string) => ({ detail: { code, message } });
  test.each<[string, Given, unknown]>([
    ["/datasets/61", { status: 404, body: coded("111", "Unknown dataset") }, coded("111", "Unknown dataset")],
    ["/datasets/61", { status: 404, body: coded("111", "in other words") }, coded("111", "in other words")],
    ["/datasets/61", { status: 412, body: coded("113", "No data file found") }, coded("113", "No data file found")],
    [
      "/datasets/61",
      { status: 403, type: `${PROBLEM}; charset=utf-8`, body: { code: "112" } },
      coded("112", "No access granted"),
    ],
    ["/datasets/61", { status: 404, type: PROBLEM, body: { code: 111 } }, coded("111", "Unknown dataset")],
    ["/datasets/61", { status: 401, type: PROBLEM, body: { code: "103" } }, coded("103", "Authentication failed")],
    ["/flow/exists/a/1", { status: 404, body: { detail: "Flow not found." } }, { detail: "Flow not found." }],
    [
      "/studies/7000",
      { status: 410, body: { detail: "Legacy studies are no longer supported." } },
      { detail: "Legacy studies are no longer supported." },
    ],
    [
      "/datasets/61",
      { status: 422, body: { detail: [{ loc: ["path"], msg: "no", type: "x" }] } },
      { detail: [{ loc: ["path"], msg: "no", type: "x" }] },
    ],
  ])("%s: %j", async (path, given, body) => {
    said = given;
    const { ask, failures } = await over();
    expect(await ask(path)).toMatchObject({ status: given.status, body, backend: "modern" });
    expect(failures()).toEqual({});
  });

  test("a 401 says how to authenticate", async () => {
    said = { status: 401, body: coded("103", "Authentication failed") };
    const { ask } = await over();
    expect((await ask("/datasets/61")).challenge).toBe('Bearer realm="catalogue"');
  });
});

describe("a write that modern's router refuses", () => {
  test.each<[string, Given]>([
    ["404", router],
    ["405", { status: 405, body: { detail: "Method Not Allowed" } }],
  ])("with %s is sent to no other side: 502, and it counts", async (_, given) => {
    said = given;
    const { ask, failures } = await over();
    const answer = await ask("/datasets/tag", {
      method: "POST",
      headers: writer,
      body: JSON.stringify({ data_id: 61, tag: "never-sent" }),
    });
    expect(answer).toMatchObject({
      status: 502,
      body: { detail: "The new implementation gave no answer." },
      backend: "modern",
    });
    expect(asked.length).toBe(1);
    expect(failures()).toEqual({ "modern_failed tagDataset": 1 });
    const { body } = await ask("/datasets/61", { headers: { "Cache-Control": "no-cache" } });
    expect(JSON.stringify(body)).not.toContain("never-sent");
  });
});

describe("modern is asked", () => {
  test("by the definition's route, where it has one", async () => {
    said = router;
    const { ask } = await over();
    for (const path of ["/flow/exists/a/1", "/flows/exists/a/2", "/evaluationmeasures/list"]) await ask(path);
    expect(asked).toEqual(["GET /flows/exists/a/1", "GET /flows/exists/a/2", "GET /evaluationmeasure/list"]);
  });

  test("by the operator's route before the definition's", async () => {
    said = router;
    const routes = { findFlow: "GET /v2/{external_version}/flow/{name}/", tagDataset: "POST /tags" };
    const { ask } = await over({ MODERN_ROUTES: JSON.stringify(routes) });
    await ask("/flow/exists/a/1");
    await ask("/datasets/tag", { method: "POST", headers: writer, body: '{"data_id":61,"tag":"x"}' });
    expect(asked).toEqual(["GET /v2/1/flow/a/", "POST /tags?api_key=00000000000000000000000000000000"]);
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
    ['{"tagDataset": "POST /a/./tags/"}', 'MODERN_ROUTES: tagDataset "POST /a/./tags/" given'],
    ['{"getStudy": "GET http://elsewhere/{id_or_alias}"}', "MODERN_ROUTES.getStudy: "],
    ['{"getStudy": "GET //elsewhere/{id_or_alias}"}', "MODERN_ROUTES.getStudy: "],
    ['{"getStudy": "PUT /studies/{id_or_alias}"}', "MODERN_ROUTES.getStudy: "],
  ])("MODERN_ROUTES %s stops the start", (text, told) => {
    expect(settingsOf({ MODERN_ROUTES: text })).toEqual({ errors: [expect.stringContaining(told)] });
  });
});

const entry = { reason: "known", owner: "us", until: "2999-01-01" };
const study = { ...endpoints.getStudy, name: "getStudy" };
const sound = {
  id: 99,
  name: "a",
  alias: null,
  main_entity_type: "task",
  description: null,
  visibility: null,
  status: null,
  creation_date: null,
  creator: 1,
  data_ids: [],
  task_ids: [],
  flow_ids: [],
  setup_ids: [],
  run_ids: [],
};

const firstMisfit = ({ name, output }: Pick<Endpoint, "output"> & { name: string }, ledger: Ledger, document: Json) =>
  firstUnexpected(name, ledger, misfitsOf(output, document));

describe("a document fits but for what the ledger allows", () => {
  const misfit = (document: Json, ...entries: object[]) =>
    firstMisfit(
      study,
      openLedger(
        entries.map((one) => ({ id: "one", endpoint: "getStudy", ...entry, ...one }) as never),
        "2026-11-21",
      ),
      document,
    );

  test("a missing field is served where the ledger allows it there, today", () => {
    expect(misfit({ ...sound, benchmark_suite: null })).toBeUndefined();
    expect(misfit(sound)).toBe("/benchmark_suite");
    const allowed = { path: "/benchmark_suite", kind: "missing" };
    expect(misfit(sound, allowed)).toBeUndefined();
    expect(misfit(sound, { ...allowed, endpoint: "*" })).toBeUndefined();
    expect(misfit(sound, { ...allowed, kind: "*" })).toBeUndefined();
    expect(misfit(sound, { ...allowed, kind: "type" })).toBe("/benchmark_suite");
    expect(misfit(sound, { ...allowed, endpoint: "getSetup" })).toBe("/benchmark_suite");
    expect(misfit(sound, { ...allowed, until: "2026-11-20" })).toBe("/benchmark_suite");
    expect(misfit({ ...sound, benchmark_suite: "1" }, allowed)).toBe("/benchmark_suite");
  });

  test("the places beside it still have to fit", () => {
    const allowed = { path: "/benchmark_suite", kind: "missing" };
    expect(misfit({ ...sound, creator: "1" }, allowed)).toBe("/creator");
    expect(misfit({ ...sound, task_ids: [1, "2"] }, allowed)).toBe("/task_ids/1");
    expect(misfit({ ...sound, task_ids: [1, "2"] }, allowed, { path: "/task_ids/*", kind: "type" })).toBeUndefined();
  });

  test("a value, where exactly this one is allowed", () => {
    const whole = { ...sound, benchmark_suite: "" };
    expect(misfit(whole, { path: "/benchmark_suite", kind: "type", candidate: "" })).toBeUndefined();
    expect(misfit(whole, { path: "/benchmark_suite", kind: "type", candidate: 0 })).toBe("/benchmark_suite");
  });

  test("an answer that is allowed is served", async () => {
    said = { status: 200, body: sound };
    const strict = await over();
    expect((await strict.ask("/studies/99")).backend).toBe("legacy");
    const allowed = { id: "one", endpoint: "getStudy", path: "/benchmark_suite", kind: "missing", ...entry } as const;
    const lenient = await over({}, { expected: [allowed] });
    expect(await lenient.ask("/studies/99")).toMatchObject({ backend: "modern", body: sound });
    expect(lenient.failures()).toEqual({});
  });

  test("no document makes it throw, and an empty ledger allows what the schema does", () => {
    const all = [{ path: "/**", kind: "*" }];
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (document) => {
        const fits = study.output.schema.safeParse(document).success;
        expect(misfit(document as Json) === undefined).toBe(fits);
        misfit(document as Json, ...all);
      }),
    );
  });

  test("too many kinds of misfits are never allowed, one kind many times may be", () => {
    const rows = (count: number, format: (i: number) => string): Json =>
      Array.from({ length: count }, (_, i) => ({
        did: i,
        name: "a",
        version: 1,
        format: format(i),
        file_id: 1,
        status: "active",
        md5_checksum: "",
        quality: [],
      }));
    const list = { ...endpoints.listDatasets, name: "listDatasets" };
    const allowed = { id: "one", endpoint: "listDatasets", path: "/*/format", kind: "value", ...entry } as const;
    const ledger = openLedger([allowed], "2026-11-21");
    expect(
      misfitsOf(
        list.output,
        rows(5000, () => "ARFF"),
      ),
    ).toEqual([{ at: "/0/format", path: "/*/format", kinds: ["value"], candidate: "ARFF" }]);
    expect(
      firstMisfit(
        list,
        ledger,
        rows(5000, () => "ARFF"),
      ),
    ).toBeUndefined();
    expect(
      firstMisfit(
        list,
        ledger,
        rows(MAX_MISFITS, (i) => `F${i}`),
      ),
    ).toBeUndefined();
    expect(
      firstMisfit(
        list,
        ledger,
        rows(MAX_MISFITS + 1, (i) => `F${i}`),
      ),
    ).toBe(`/${MAX_MISFITS}/format`);
  });

  test("what is nested too deep is never passed on", () => {
    const deep = JSON.parse(`${"[".repeat(100)}${"]".repeat(100)}`) as Json;
    const whole = { ...sound, benchmark_suite: null, more: deep };
    expect(misfit(whole, { path: "/**", kind: "*" })).toBe("/more");
    const deepest = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as Json;
    for (const one of [deepest, { ...sound, name: deepest }, { ...sound, more: deepest }])
      expect(misfit(one)).toBeTypeOf("string");
  });
});

test("no error of modern makes it throw; what is served has its status and a detail", () => {
  const code = fc.oneof(fc.constantFrom("111", "112", "372", "601", 113, "103"), fc.jsonValue());
  const error = fc.oneof(
    fc.record({
      detail: fc.oneof(fc.record({ code, message: fc.string() }), fc.jsonValue(), fc.constant("Not Found")),
    }),
    fc.record({
      code,
      type: fc.oneof(fc.constantFrom("x/study-not-found", "__proto__", "x/constructor"), fc.jsonValue()),
    }),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.values(endpoints)),
      fc.integer({ min: 400, max: 499 }),
      fc.constantFrom(JSON_TYPE, PROBLEM, "text/html", ""),
      error,
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
