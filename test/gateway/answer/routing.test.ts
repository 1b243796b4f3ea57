import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXPOSED_HEADERS } from "../../../src/gateway/http/cors.ts";
import { type SampleLegacy, startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { endpoints } from "../../../transforms/index.ts";
import { gatewayFor, type TestGateway } from "../../support/gateway.ts";

type Gateway = TestGateway;
const READ = "GET, HEAD, OPTIONS";
const WRITE = "POST, OPTIONS";

/** Every path of the decisions, those of one row mean the same, and what `Allow` says of each. */
const rows: [allow: string, path: string, ...aliases: string[]][] = [
  [READ, "/datasets/61", "/datasets/061", "/datasets/+61", "/datasets/%36%31"],
  [READ, "/data/list/limit/5", "/data/list/offset/0/limit/5"],
  [READ, "/setup/3", "/setups/3"],
  [READ, "/studies/99", "/study/99", "/studies/sample-suite", "/study/sample-suite"],
  [READ, "/flow/exists/sample.ZeroRule/Sample_1.0", "/flows/exists/sample.ZeroRule/Sample_1.0"],
  [READ, "/flows/104", "/flow/104", "/flow/0104"],
  // The fixed words win over ids.
  [READ, "/flow/list", "/flow/list/limit/100", "/flow/list/offset/0"],
  [READ, "/tasks/1", "/task/1"],
  [READ, "/task/list/task_type_id/8", "/task/list/limit/100/task_type_id/8"],
  [READ, "/tasktype/list"],
  [READ, "/tasktype/1", "/tasktype/+1"],
  [READ, "/run/1", "/runs/1", "/run/001"],
  [READ, "/run/trace/1", "/runs/1/trace", "/run/trace/+1"],
  [READ, "/run/list/task/1", "/run/list/limit/100/task/1"],
  [READ, "/setup/list", "/setup/list/limit/100", "/setup/list/offset/0"],
  [READ, "/evaluation/list/run/1", "/evaluation/list/offset/0/run/1", "/evaluation/list/per_fold/false/run/1"],
  [READ, "/evaluation/setup/list/run/1", "/evaluation/setup/list/offset/0/run/1"],
  [READ, "/datasets/features/61", "/datasets/61/features", "/datasets/features/+61"],
  [READ, "/datasets/qualities/61", "/datasets/061/qualities"],
  [READ, "/datasets/qualities/list"],
  [READ, "/data/tag/list", "/datasets/tag/list"],
  [READ, "/flow/tag/list", "/flows/tag/list"],
  [READ, "/task/tag/list", "/tasks/tag/list"],
  [READ, "/setup/tag/list", "/setups/tag/list"],
  [READ, "/run/tag/list", "/runs/tag/list"],
  [READ, "/study/list", "/study/list/limit/100", "/study/list/offset/0"],
  [READ, "/estimationprocedure/list"],
  [READ, "/evaluationmeasures/list", "/evaluationmeasure/list"],
  ["POST, GET, HEAD, OPTIONS", "/datasets/list"],
  ["POST, GET, HEAD, OPTIONS", "/flows/list"],
  ["POST, GET, HEAD, OPTIONS", "/tasks/list"],
  ["POST, GET, HEAD, OPTIONS", "/setups/list"],
  ["POST, GET, HEAD, OPTIONS", "/runs/list"],
  ["POST, GET, HEAD, OPTIONS", "/evaluations/list"],
  ["POST, GET, HEAD, OPTIONS", "/evaluations/setup/list"],
  [WRITE, "/runs/tag"],
  [WRITE, "/runs/untag"],
  ["POST, GET, HEAD, OPTIONS", "/studies/list"],
  [WRITE, "/datasets/status/update"],
  [WRITE, "/studies"],
  [WRITE, "/studies/attach"],
  [WRITE, "/studies/detach"],
  [WRITE, "/studies/status/update"],
  [WRITE, "/flows/tag"],
  [WRITE, "/flows/untag"],
  [WRITE, "/tasks/tag"],
  [WRITE, "/tasks/untag"],
  [WRITE, "/datasets/tag"],
  [WRITE, "/datasets/untag"],
  [WRITE, "/setup/tag", "/setups/tag"],
  [WRITE, "/setup/untag", "/setups/untag"],
];
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Lists of too many entries: a request without a filter is refused. */
const isNarrowed = (path: string) => /^\/(runs|evaluations(\/setup)?)\/list\/?$/.test(path);

const statusOf = (allow: string, method: string, path: string): 200 | 204 | 401 | 405 | 422 => {
  if (!allow.split(", ").includes(method)) return 405;
  if (method === "OPTIONS") return 204;
  if (isNarrowed(path)) return 422;
  return method === "POST" && allow === WRITE ? 401 : 200;
};
const bodyOf = { 200: /^[[{]/, 204: /^$/, 401: /"103"/, 405: /^\{"detail":"Method Not Allowed"\}$/, 422: /"5[14]0"/ };

let legacy: SampleLegacy;
beforeAll(async () => {
  legacy = await startSampleLegacy();
});
afterAll(() => legacy.close());

/** The headers that do not change from one answer to the next. */
const headersOf = (response: Response) =>
  Object.fromEntries(
    [...response.headers].filter(([name]) => !["server-timing", "cache-status", "age"].includes(name)),
  );

describe.each(["/v1", "/", "/api/v2"])("below %s", (prefix) => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await gatewayFor(legacy.url, { PREFIXES: prefix });
  });
  afterAll(() => gateway.close());
  const base = prefix === "/" ? "" : prefix;
  const ask = (path: string, method = "GET", headers = {}) => gateway.app.request(base + path, { method, headers });

  test.each(rows)("%s: %s", async (allow, ...paths) => {
    const bodies = new Set<string>();
    for (const path of paths.flatMap((each) => [each, `${each}/`]))
      for (const method of methods) {
        const at = `${method} ${path}`;
        const response = await ask(path, method);
        const body = await response.text();
        const status = statusOf(allow, method, path);
        const expected = status === 405 || status === 204 ? allow : null;
        expect([at, response.status, response.headers.get("allow")]).toEqual([at, status, expected]);
        expect(response.headers.get("access-control-allow-origin")).toBe("*");
        expect(body).toMatch(method === "HEAD" || status === 204 ? /^$/ : bodyOf[status]);
        if (method === "GET" && status === 200) bodies.add(body);
      }
    expect(bodies.size).toBe(allow === WRITE || paths.some(isNarrowed) ? 0 : 1);
  });

  test.each(["/datasets/61", "/datasets/abc", "/datasets/tag"])(
    "HEAD %s has GET's headers and no body",
    async (path) => {
      const [got, head] = [await ask(path), await ask(path, "HEAD")];
      expect([head.status, headersOf(head)]).toEqual([got.status, headersOf(got)]);
      expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(await got.text())));
      expect(await head.text()).toBe("");
    },
  );

  test.each(rows)("a preflight is answered (%s: %s)", async (allow, ...paths) => {
    for (const path of paths) {
      const response = await ask(path, "OPTIONS", {
        Origin: "https://page.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-api-key",
      });
      expect([response.status, headersOf(response)]).toEqual([
        204,
        {
          allow,
          "access-control-allow-methods": allow,
          "access-control-allow-headers":
            "Accept, Authorization, Cache-Control, Content-Type, Gateway-Backend, If-None-Match, Origin, Pragma, " +
            "X-API-Key, X-Request-Id, X-Requested-With, traceparent, tracestate",
          "access-control-allow-origin": "*",
          "access-control-expose-headers": EXPOSED_HEADERS,
          "access-control-max-age": "86400",
        },
      ]);
    }
  });

  test.each(methods.flatMap((method) => ["/nothing", "/datasets", "/datasets/61/x", ""].map((path) => [method, path])))(
    "%s %j is no path",
    async (method, path) => {
      const response = await ask(path, method);
      expect([response.status, await response.text()]).toEqual([
        404,
        method === "HEAD" ? "" : '{"detail":"Not Found"}',
      ]);
    },
  );
});

test("the 404 of a misspelt path suggests the right one", async () => {
  const gateway = await gatewayFor(legacy.url);
  const paths: [path: string, suggested: string | undefined][] = [
    ["/Datasets//61", "/datasets/61"],
    ["/dta/list/limit/10", "/data/list/limit/10"],
    ["/flow/exist/a/b", "/flow/exists/a/b"],
    ["/dta/list/limit", undefined],
    [`/dataset/${"6".repeat(300)}`, undefined],
  ];
  for (const [path, suggested] of paths) {
    const { detail } = (await (await gateway.app.request(`/v1${path}`)).json()) as { detail: string };
    expect([path, detail]).toEqual([path, `Not Found${suggested ? `. Did you mean /v1${suggested}?` : ""}`]);
  }
  await gateway.close();
});

test("the table above has every route of every endpoint", () => {
  const forms = Object.values(endpoints).flatMap(({ routes }) =>
    routes.map((route) => {
      const [method = "", template = ""] = route.split(" ");
      return { route, method, pattern: new RegExp(`^${template.replaceAll(/\/\{[^}]*\}/g, "/.+")}$`) };
    }),
  );
  const missing = forms.filter(
    ({ method, pattern }) =>
      !rows.some(([allow, ...paths]) => allow.includes(method) && paths.some((path) => pattern.test(path))),
  );
  expect(missing.map(({ route }) => route)).toEqual([]);
});

test("each listed origin is allowed itself, another is not, and caches vary by it", async () => {
  const gateway = await gatewayFor(legacy.url, { CORS_ORIGINS: "https://a.example, https://b.example" });
  const listed = ["https://a.example", "https://b.example"];
  for (const origin of [...listed, "https://c.example", "https://a.example.evil", "null", undefined])
    for (const method of ["GET", "OPTIONS", "DELETE"])
      for (const path of ["/v1/datasets/61", "/v1/datasets/abc"]) {
        const headers = origin === undefined ? {} : { Origin: origin };
        const response = await gateway.app.request(path, { method, headers });
        const allowed = origin !== undefined && listed.includes(origin) ? origin : null;
        expect([origin, response.headers.get("access-control-allow-origin")]).toEqual([origin, allowed]);
        expect(response.headers.get("vary")).toMatch(/\bOrigin$/);
      }
  await gateway.close();
});

test("the list by path and by body answers the same bytes", async () => {
  const gateway = await gatewayFor(legacy.url);
  const lists: [path: string, body: object][] = [
    ["", {}],
    ["/limit/2/offset/3", { pagination: { offset: 3, limit: 2 } }],
    ["/data_id/61,1,2", { data_id: [61, 1, 2] }],
    ["/data_id/1,2,4,5,61/offset/2/limit/3", { pagination: { limit: 3, offset: 2 }, data_id: [1, 2, 4, 5, 61] }],
    ["/number_instances/100..200", { number_instances: "100..200" }],
    ["/data_name/iris/data_version/1", { data_version: 1, data_name: "iris" }],
  ];
  for (const [path, body] of lists) {
    const byPath = await gateway.app.request(`/v1/data/list${path}`);
    const byBody = await gateway.app.request("/v1/datasets/list", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    expect([path, byPath.status, await byPath.text()]).toEqual([path, byBody.status, await byBody.text()]);
  }
  await gateway.close();
});
