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

test("targets outside the prefix go to legacy, spelled as they came", async () => {
  const { port, seen } = await open();
  const targets = [
    "//v1/evaluationmeasures/list",
    "/v1x/evaluationmeasures/list",
    "/x/../v1/evaluationmeasures/list",
    "/%761/evaluationmeasures/list",
    "/v1%2Fevaluationmeasures/list",
    "/%2e%2e/v1/x",
    "/a?b=/v1/evaluationmeasures/list",
  ];
  for (const target of targets) expect([target, (await exchange(port, get(target))).status]).toEqual([target, 299]);
  expect(seen.map((received) => received.target)).toEqual(targets);
});

describe("targets below it are ours, and their spelling is not normalized", () => {
  test("wrong targets are answered without asking legacy", async () => {
    const { port, seen } = await open();
    const targets: [target: string, status: number][] = [
      ["/v1", 404],
      ["/v1/evaluationmeasures//list", 404],
      ["/v1/datasets/61/more", 404],
      ["/v1/../evaluationmeasures/list", 404],
      ["/v1/%2e%2e/api/v1/json/data/1", 404],
      ["/v1/Evaluationmeasures/List", 404],
      ["/v1/evaluationmeasures%2Flist", 404],
      ["/v1/datasets/..", 422],
      ["/v1/datasets/1%2F..%2F2", 422],
      ["/v1/datasets/1%3Fapi_key=x", 422],
      ["/v1/datasets/1%00", 422],
      ["/v1/datasets/%ff", 422],
      ["/v1/studies/..", 404],
      ["/v1/studies/a%2Fb", 404],
      ["/v1/data/list/data_name/a%2Flimit%2F1", 422],
      ["/v1/data/list/limit", 422],
      ["/v1/data/list/limit/1/limit/1", 422],
      ["/v1/data/list/__proto__/1", 422],
      ["/v1/flow/exists/../x/", 401],
      ["/v1/flow/exists/a%zz/x/", 401],
    ];
    const given: typeof targets = [];
    for (const [target, status] of targets) {
      const answer = await exchange(port, get(target));
      given.push([target, answer.status]);
      if (answer.status === status) expectDetail(answer, status);
    }
    expect([given, seen]).toEqual([targets, []]);
  });

  test.each([
    "/v1/evaluationmeasures/list",
    "/v1/evaluationmeasures/list/?api_key=#b/c",
    "/v1/evaluationmeasures/list?#?api_key=no-key",
    "HTTPS://front.example:8443/v1/evaluationmeasures/list?api_key=",
  ])("the target %s is the list", async (target) => {
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

  test("a # ends the query as well as the path", async () => {
    const { port, seen } = await open();
    await exchange(port, get(`/v1/evaluationmeasures/list?api_key=${keys.unknown}#&api_key=other`));
    expect(seen.map(({ target }) => target)).toEqual([`/api/v1/json/evaluationmeasure/list?api_key=${keys.unknown}`]);
  });
});

describe("malformed HTTP is refused as JSON", () => {
  const rest = "Host: a\r\nConnection: close\r\n\r\n";
  test("and the gateway answers the next request", async () => {
    const { port, seen } = await open();
    const malformed: [about: string, bytes: string | Buffer, status: number][] = [
      ["TLS", Buffer.from([0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5]), 400],
      ["an unknown method", `BREW /v1/datasets/61 HTTP/1.1\r\n${rest}`, 400],
      ["headers too large", `GET /v1/datasets/61 HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n${rest}`, 431],
      ["more than 100 headers", `GET /v1/datasets/61 HTTP/1.1\r\nHost: a\r\n${"X: 1\r\n".repeat(100)}\r\n`, 431],
      ["a target too long", `GET /v1/${"x".repeat(20_000)} HTTP/1.1\r\n${rest}`, 431],
      ["no Host", "GET /v1/evaluationmeasures/list HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
      ["an expectation", request("GET /v1/evaluationmeasures/list", "Expect: more"), 417],
      ["an odd Host", "GET /v1/datasets/61 HTTP/1.1\r\nHost: a b<\r\nConnection: close\r\n\r\n", 400],
    ];
    for (const [about, bytes, status] of malformed) {
      const answer = await exchange(port, bytes);
      expect([about, answer.status]).toEqual([about, status]);
      expectDetail(answer, status);
    }
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
    [`OPTIONS ${list}`, [], 204],
    [`GET ${list}`, [key], 200],
    [`GET http://other.example${list}`, [key], 200],
    [`DELETE ${list}`, [], 405],
    ["POST /v1/datasets/tag", [key, "Content-Length: 0"], 422],
    ["GET /passed?x", [key], 299],
    [`GET /api/v1/json/evaluationmeasure/list?api_key=${keys.unknown}`, [], 200],
  ];
  test.each<[string, Record<string, string>]>([
    ["by default", {}],
    ["with old clients' cache", { CACHE_LEGACY: "all" }],
  ])("%s a request without a host is answered", async (_, environment) => {
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
