import { describe, expect, test } from "vitest";
import { listeningGateway, recordingUpstream } from "../http/support.ts";
import { get, request } from "../proxy/support.ts";
import { exchange, expectDetail, keys, measures } from "./support.ts";

/** A gateway over a legacy that answers everything alike, with a status of its own. */
const open = async (environment: Record<string, string> = {}) => {
  const { url, seen } = await recordingUpstream(({ target }) => ({
    body: target.includes("/evaluationmeasure/list") ? measures : '{"legacy":1}',
    status: target.startsWith("/api/v1/json/") ? 200 : 299,
  }));
  return { ...(await listeningGateway(url, environment)), seen };
};

describe("targets outside the prefix go to legacy, spelled as they came", () => {
  test.each([
    "//v1/evaluationmeasures/list",
    "/v1x/evaluationmeasures/list",
    "/V1/evaluationmeasures/list",
    "/x/../v1/evaluationmeasures/list",
    "/./v1/evaluationmeasures/list",
    "/%761/evaluationmeasures/list",
    "/v1%2Fevaluationmeasures/list",
    "/v1;a=b/evaluationmeasures/list",
    "/%2e%2e/v1/x",
    "/a?b=/v1/evaluationmeasures/list",
    "/a%23b",
    "/v1\\evaluationmeasures",
  ])("%s", async (target) => {
    const { port, seen } = await open();
    expect((await exchange(port, get(target))).status).toBe(299);
    expect(seen.map((received) => received.target)).toEqual([target]);
  });
});

describe("targets below it are ours, and their spelling is not normalized", () => {
  test.each<[target: string, status: number]>([
    ["/v1", 404],
    ["/v1?x", 404],
    ["/v1#x", 404],
    ["/v1//evaluationmeasures/list", 404],
    ["/v1/evaluationmeasures//list", 404],
    ["/v1/evaluationmeasures/list//", 404],
    ["/v1/../x", 404],
    ["/v1/datasets/61/more", 404],
    ["/v1/flow/exists/only-a-name", 404],
    ["/v1/../evaluationmeasures/list", 404],
    ["/v1/x/../evaluationmeasures/list", 404],
    ["/v1/./evaluationmeasures/list", 404],
    ["/v1/%2e%2e/api/v1/json/data/1", 404],
    ["/v1/Evaluationmeasures/List", 404],
    ["/v1/%65valuationmeasures/list", 404],
    ["/v1/evaluationmeasures%2Flist", 404],
    ["/v1/datasets/..", 422],
    ["/v1/datasets/%2e%2e", 422],
    ["/v1/datasets/1%2F..%2F2", 422],
    ["/v1/datasets/1%3Fapi_key=x", 422],
    ["/v1/datasets/1%23", 422],
    ["/v1/datasets/1%00", 422],
    ["/v1/datasets/%", 422],
    ["/v1/datasets/%ff", 422],
    ["/v1/datasets/1%0d%0a", 422],
    ["/v1/datasets/1;2", 422],
    ["/v1/studies/..", 404],
    ["/v1/studies/.%2e", 404],
    ["/v1/studies/a%2Fb", 404],
    ["/v1/setup/%2e", 422],
    ["/v1/data/list/tag/..%2F..", 422],
    ["/v1/data/list/data_name/a%2Flimit%2F1", 422],
    ["/v1/data/list/limit", 422],
    ["/v1/data/list/limit/1/limit/1", 422],
    ["/v1/data/list/limit//", 422],
    ["/v1/data/list/__proto__/1", 422],
    ["/v1/flow/exists/../x/", 401],
    ["/v1/flow/exists/a%2Fb/x/", 401],
    ["/v1/flow/exists/a/..", 401],
    ["/v1/flow/exists/a%zz/x/", 401],
    ["/v1/flow/exists/a%23b/1", 401],
  ])("%s: %i, without asking legacy", async (target, status) => {
    const { port, seen } = await open();
    expectDetail(await exchange(port, get(target)), status);
    expect(seen).toEqual([]);
  });

  test.each([
    "/v1/evaluationmeasures/list",
    "/v1/evaluationmeasures/list/?api_key=#b/c",
    "/v1/evaluationmeasures/list#/../x",
    "/v1/evaluationmeasures/list?#?api_key=no-key",
    "http://front.example/v1/evaluationmeasures/list",
    "HTTPS://front.example:8443/v1/evaluationmeasures/list?api_key=",
  ])("%s is the list", async (target) => {
    const { port, seen } = await open();
    const answer = await exchange(port, get(target));
    expect([answer.status, answer.body]).toEqual([200, '["kappa"]']);
    expect(seen.map((received) => received.target)).toEqual(["/api/v1/json/evaluationmeasure/list"]);
  });

  test("a parameter that means nothing is 422, also where the answer is stored", async () => {
    const { port } = await open();
    const list = "/v1/evaluationmeasures/list";
    for (const query of ["", "?api_key=", "", ""]) expect((await exchange(port, get(list + query))).status).toBe(200);
    const refused = await exchange(port, get(`${list}?api_key=&limit=5`));
    expect([refused.status, JSON.parse(refused.body)]).toEqual([
      422,
      {
        detail: [
          {
            loc: ["query", "limit"],
            msg: "extra fields not permitted; allowed: api_key",
            type: "value_error.extra",
          },
        ],
      },
    ]);
  });

  test("an upgrade to HTTP/2 is ignored", async () => {
    const { port } = await open();
    const served = await exchange(port, get("/v1/evaluationmeasures/list", "Connection: upgrade", "Upgrade: h2c"));
    expect(served.status).toBe(200);
  });

  test("a # ends the query as well as the path", async () => {
    const { port, seen } = await open();
    await exchange(port, get(`/v1/evaluationmeasures/list?api_key=${keys.unknown}#&api_key=other`));
    expect(seen.map(({ target }) => target)).toEqual([`/api/v1/json/evaluationmeasure/list?api_key=${keys.unknown}`]);
  });
});

describe("malformed HTTP is refused as JSON", () => {
  const rest = "Host: a\r\nConnection: close\r\n\r\n";
  test.each([
    ["no request line", "NONSENSE\r\n\r\n", 400],
    ["TLS", Buffer.from([0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5]), 400],
    ["another protocol", `GET /v1/datasets/61 FTP/1.1\r\n${rest}`, 400],
    ["an unknown method", `BREW /v1/datasets/61 HTTP/1.1\r\n${rest}`, 400],
    ["a blank in the target", `GET /v1/data sets/61 HTTP/1.1\r\n${rest}`, 400],
    ["a header without a colon", `GET /v1/datasets/61 HTTP/1.1\r\nNothing\r\n${rest}`, 400],
    ["two lengths", `POST /v1/datasets/list HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n${rest}{}`, 400],
    [
      "length and chunks",
      `POST /v1/datasets/list HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n${rest}{}`,
      400,
    ],
    ["a negative length", `POST /v1/datasets/list HTTP/1.1\r\nContent-Length: -2\r\n${rest}{}`, 400],
    ["broken chunks", `POST /v1/datasets/list HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${rest}zz\r\n`, 400],
    ["headers too large", `GET /v1/datasets/61 HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n${rest}`, 431],
    ["more than 100 headers", `GET /v1/datasets/61 HTTP/1.1\r\nHost: a\r\n${"X: 1\r\n".repeat(100)}\r\n`, 431],
    ["a target too long", `GET /v1/${"x".repeat(20_000)} HTTP/1.1\r\n${rest}`, 431],
    ["no Host", "GET /v1/evaluationmeasures/list HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    ["an expectation", request("GET /v1/evaluationmeasures/list", "Expect: more"), 417],
    ["an odd Host", "GET /v1/datasets/61 HTTP/1.1\r\nHost: a b<\r\nConnection: close\r\n\r\n", 400],
  ])("%s", async (_, bytes, status) => {
    const { port, seen } = await open();
    expectDetail(await exchange(port, bytes), status);
    expect(seen).toEqual([]);
    expect((await exchange(port, get("/v1/evaluationmeasures/list"))).status).toBe(200);
  });

  test("100 headers are taken", async () => {
    const { port } = await open();
    const headers = Array.from({ length: 98 }, (_, i) => `X-${i}: 1`);
    expect((await exchange(port, get("/v1/evaluationmeasures/list", ...headers))).status).toBe(200);
  });
});

describe("an empty Host, and HTTP/1.0 without one, name no host", () => {
  const list = "/v1/evaluationmeasures/list";
  const key = `X-API-Key: ${keys.unknown}`;
  const lines: [line: string, headers: string[], status: number][] = [
    [`GET ${list}`, [], 200],
    [`HEAD ${list}`, [], 200],
    [`OPTIONS ${list}`, [], 204],
    [`GET ${list}`, [key], 200],
    [`GET ${list}?api_key=${keys.unknown}`, [], 200],
    [`GET ${list}?x`, [], 422],
    [`GET http://other.example${list}`, [key], 200],
    [`DELETE ${list}`, [], 405],
    ["GET /v1/unknown", [], 404],
    ["POST /v1/datasets/tag", [key, "Content-Length: 0"], 422],
    ["GET /passed?x", [key], 299],
    [`GET /api/v1/json/evaluationmeasure/list?api_key=${keys.unknown}`, [], 200],
  ];
  test.each<[string, Record<string, string>]>([
    ["by default", {}],
    ["with rates limited", { RATE_LIMIT: "1000" }],
    ["with each request logged", { ACCESS_LOG: "all", LOG_LEVEL: "silent" }],
    ["with old clients' cache", { CACHE_LEGACY: "all" }],
  ])("%s", async (_, environment) => {
    const { port, seen, url } = await open(environment);
    await exchange(port, get(list));
    await exchange(port, get("/api/v1/json/evaluationmeasure/list"));
    for (const [line, headers, status] of lines)
      for (const head of [
        `${line} HTTP/1.1\r\nHost:`,
        `${line} HTTP/1.1\r\nAccept: */*\r\nhost: `,
        `${line} HTTP/1.0`,
      ]) {
        const answer = await exchange(port, [head, ...headers, "Connection: close", "", ""].join("\r\n"));
        expect([head, answer.status]).toEqual([head, status]);
      }
    expect(url).toContain("127.0.0.1");
    // Legacy is addressed by its own name then.
    const named = new Set(seen.map(({ headers }) => headers["host"]));
    expect([...named].filter((host) => host === "" || host === "other.example")).toEqual([]);
  });

  test.each(["", " HTTP/0.9", " HTTP/2.0"])("a request line that ends with %j is 505", async (version) => {
    const { port, seen } = await open();
    for (const path of [list, "/passed"]) {
      const answer = await exchange(port, `GET ${path}${version}\r\nHost: a\r\n\r\n`);
      expectDetail(answer, 505);
    }
    expect(seen).toEqual([]);
  });
});
