import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SampleLegacy, startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { listeningGateway, recordingUpstream } from "../http/support.ts";
import { get, request } from "../proxy/support.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { exchange, expectDetail, keys } from "./support.ts";

const K = keys.unknown;
const other = K.toLowerCase();

describe("a key over a socket", () => {
  test.each<[outcome: "travels" | "none" | "refused", query: string, ...headers: string[]]>([
    ["travels", `?api_key=${K}`],
    ["travels", `?api%5Fkey=${K}`],
    ["travels", "", `Authorization: Bearer ${K}`],
    ["travels", "", `AUTHORIZATION: BEARER   ${K}  `],
    ["travels", "", `X-API-Key: ${K}`],
    ["travels", `?api_key=${K}&api_key=${K}`, `X-API-Key: ${K}`, `Authorization: Bearer ${K}`],
    ["travels", "?api_key=", `X-API-Key: ${K}`],
    ["none", ""],
    ["none", "?api_key=&api_key", "X-API-Key:", "Authorization:"],
    ["none", `#?api_key=${K}`],
    ["none", "", `Cookie: api_key=${K}`],
    ["refused", `?api_key=${K}&api_key=${other}`],
    ["refused", `?api_key=${K}`, `Authorization: Bearer ${other}`],
    ["refused", "", `X-API-Key: ${K}`, `Authorization: Bearer ${other}`],
    ["refused", "?api_key=0"],
    ["refused", `?api_key=${K}%20`],
    ["refused", `?api_key=${K}%0d%0aX-Evil:1`],
    ["refused", "?api_key=%"],
    ["refused", "?api_key=k%C3%A9y"],
    ["refused", `?api_key=${"a".repeat(65)}`],
    ["refused", "", "Authorization: Bearer a b"],
    ["refused", "", "Authorization: Bearer"],
    ["refused", "", "Authorization: Basic YTpi"],
    ["refused", `?api_key=${K}`, "Authorization: Basic YTpi"],
    ["refused", "", `Authorization: ${K}`],
    ["refused", "", "X-API-Key: k\u00e9y"],
  ])("%s: %j %j", async (outcome, query, ...headers) => {
    const { url, seen } = await recordingUpstream();
    const { port } = await listeningGateway(url);
    const answer = await exchange(port, request(`GET /v1/evaluationmeasures/list${query}`, ...headers));
    const [status, challenge, body] =
      outcome === "refused"
        ? [401, 'Bearer realm="catalogue"', '{"detail":{"code":"103","message":"Authentication failed"}}']
        : [200, undefined, '["kappa"]'];
    expect([answer.status, answer.headers.get("www-authenticate"), answer.body]).toEqual([status, challenge, body]);
    expect(answer.headers.get("content-type")).toBe("application/json");
    expect(answer.headers.get("set-cookie")).toBeUndefined();
    const shared = "public, max-age=86400, stale-while-revalidate=604800, stale-if-error=604800";
    const mayBeKept = { travels: "private, no-cache", none: shared, refused: "private, no-store" };
    expect(answer.headers.get("cache-control")).toBe(mayBeKept[outcome]);
    const target = `/api/v1/json/evaluationmeasure/list${outcome === "travels" ? `?api_key=${K}` : ""}`;
    expect(seen.map((received) => received.target)).toEqual(outcome === "refused" ? [] : [target]);
  });

  // Node joins repeated headers ("K, K"), which then is no key. Two different keys are to be
  // refused, these are the same one.
  test.each([`X-API-Key: ${K}`, `Authorization: Bearer ${K}`])(
    "twice the same header %s is one key",
    async (header) => {
      const { url } = await recordingUpstream();
      const { port } = await listeningGateway(url);
      expect((await exchange(port, request("GET /v1/evaluationmeasures/list", header, header))).status).toBe(200);
    },
  );
});

describe("the parts of a request that travel to legacy", () => {
  const list = "/v1/evaluationmeasures/list";

  test("a GET takes the key in the query to legacy, and the client's address", async () => {
    const { url, seen } = await recordingUpstream();
    const { port } = await listeningGateway(url);
    const own = [`Authorization: Bearer ${K}`, "Cookie: session=1", "User-Agent: me/1", "X-Other: 1"];
    await exchange(port, get(list, ...own, "Accept-Encoding: gzip", "X-Forwarded-For: 6.6.6.6"));
    const names =
      "accept accept-encoding connection forwarded host user-agent via x-forwarded-for x-forwarded-port x-forwarded-proto x-request-id";
    expect(Object.keys(seen[0]?.headers ?? {}).toSorted()).toEqual(names.split(" "));
    expect(seen[0]?.headers).toMatchObject({
      "accept-encoding": "identity",
      "user-agent": "me/1",
      "x-forwarded-for": "127.0.0.1",
      host: url.replace("http://", ""),
    });
  });

  test.each([
    ["a stranger", {}],
    ["a trusted proxy", { TRUSTED_PROXIES: "127.0.0.1" }],
  ])("no host that %s names travels to legacy, since the answer is public", async (_, environment) => {
    const { url, seen } = await recordingUpstream();
    const { port } = await listeningGateway(url, environment);
    const hosts = ["X-Forwarded-Host: one.example", "Forwarded: for=192.0.2.1;host=two.example"];
    await exchange(port, get(`http://three.example:81${list}`, ...hosts));
    expect(seen[0]?.headers).toMatchObject({ "x-forwarded-port": "80", forwarded: "for=127.0.0.1;proto=http" });
    expect(JSON.stringify(seen[0]?.headers)).not.toMatch(/\.example|:81/);
  });

  test("a POST takes the key in the form to legacy; the query stays here", async () => {
    const { url, seen } = await recordingUpstream(() => ({ body: '{"setup_tag":{"id":"1","tag":"a"}}' }));
    const { port } = await listeningGateway(url);
    const body = '{"setup_id":1,"tag":"a"}';
    const head = request(`POST /v1/setup/tag?api_key=${K}`, `Content-Length: ${body.length}`);
    expect((await exchange(port, head, body)).status).toBe(200);
    expect(seen).toMatchObject([
      { method: "POST", target: "/api/v1/json/setup/tag", body: `setup_id=1&tag=a&api_key=${K}` },
    ]);
  });
});

describe("credential, access, input, data: in this order", () => {
  let legacy: SampleLegacy;
  beforeAll(async () => {
    legacy = await startSampleLegacy();
  });
  afterAll(() => legacy.close());

  const who = {
    nobody: undefined,
    malformed: "no-key!",
    wrong: K,
    reader: keys.reader,
    user: keys.user,
    owner: keys.owner,
  };
  type Statuses = Record<keyof typeof who, number>;
  const writing = { nobody: 401, malformed: 401, wrong: 401, reader: 403 };
  const reading = { malformed: 401, wrong: 401 };
  const all = (status: number) => ({ ...reading, nobody: status, reader: status, user: status, owner: status });

  test.each<[line: string, body: string | undefined, statuses: Statuses]>([
    ["POST /datasets/tag", '{"data_id":1000000,"tag":"a"}', { ...writing, user: 404, owner: 404 }],
    ["POST /datasets/tag", '{"data_id":0,"tag":"a"}', { ...writing, user: 404, owner: 404 }],
    ["POST /datasets/tag", '{"data_id":"1","tag":"a"}', { ...writing, user: 422, owner: 422 }],
    ["POST /datasets/tag", "{", { ...writing, user: 422, owner: 422 }],
    ["POST /setups/untag", '{"setup_id":1,"tag":"a b"}', { ...writing, user: 422, owner: 422 }],
    ["GET /datasets/abc", undefined, all(422)],
    ["GET /datasets/0", undefined, all(404)],
    ["GET /datasets/1000000", undefined, all(404)],
    ["GET /datasets/16", undefined, { ...all(403), owner: 200 }],
    ["GET /studies/1", undefined, all(410)],
    ["GET /studies/a%20b", undefined, all(404)],
    ["GET /data/list/limit/0", undefined, all(422)],
    ["POST /datasets/list", '{"limit":0}', all(422)],
    ["GET /flow/exists/a'b/1", undefined, all(502)],
    ["GET /flow/exists/a=b/1", undefined, { ...writing, reader: 401, user: 404, owner: 404 }],
    ["GET /flow/exists/no.such/1", undefined, all(404)],
  ])("%s %s", async (line, body, statuses) => {
    const [method = "", path = ""] = line.split(" ");
    const gateway = await gatewayFor(legacy.url);
    const given: Partial<Statuses> = {};
    for (const [name, key] of Object.entries(who) as [keyof typeof who, string | undefined][]) {
      const response = await gateway.app.request(`/v1${path}`, {
        method,
        headers: { "Content-Type": "application/json", ...(key === undefined ? {} : { "X-API-Key": key }) },
        ...(body === undefined ? {} : { body }),
      });
      given[name] = response.status;
      const text = await response.text();
      if (response.status !== 200)
        expectDetail({ status: response.status, headers: response.headers, body: text }, response.status);
      expect(text).not.toContain(key ?? "no key");
    }
    expect(given).toEqual(statuses);
    await gateway.close();
  });

  test("Gateway-Decision says whether the key or the input was refused", async () => {
    const { port } = await listeningGateway(legacy.url);
    const reasonOf = async (line: string, key: string, ...parts: string[]) => {
      const head = request(line, `X-API-Key: ${key}`, ...parts.map((body) => `Content-Length: ${body.length}`));
      const { status, headers } = await exchange(port, head, ...parts);
      return [status, headers.get("gateway-decision")];
    };
    const refused = (reason: string) => `stage=legacy; backend=gateway; reason=${reason}`;
    expect(await reasonOf("GET /v1/datasets/abc", keys.user)).toEqual([422, refused("input")]);
    expect(await reasonOf("GET /v1/datasets/abc", K)).toEqual([401, refused("credential")]);
    expect(await reasonOf("POST /v1/datasets/tag", keys.user, "{")).toEqual([422, refused("input")]);
    expect(await reasonOf("POST /v1/datasets/tag", keys.reader, "{")).toEqual([403, refused("credential")]);
  });

  test.each([
    ["another media type", { "Content-Type": "text/plain" }, "x", 415],
    ["too large a body", { "Content-Type": "application/json" }, `"${"x".repeat(5000)}"`, 413],
  ])("%s comes after the key too", async (_, headers, body, status) => {
    const gateway = await gatewayFor(legacy.url, { MAX_BODY_BYTES: "1024" });
    const ask = async (key: string) =>
      (
        await gateway.app.request("/v1/datasets/tag", {
          method: "POST",
          headers: { ...headers, "X-API-Key": key },
          body,
        })
      ).status;
    expect([await ask(""), await ask(K), await ask(keys.reader), await ask(keys.user)]).toEqual([
      401,
      401,
      403,
      status,
    ]);
    await gateway.close();
  });
});
