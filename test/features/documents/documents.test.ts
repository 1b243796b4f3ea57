import { expect, test } from "vitest";
import { listeningGateway, recordingUpstream } from "../../gateway/http/support.ts";
import { openApiErrors } from "../../libraries/openapi/schemas.ts";

type Document = {
  servers: unknown;
  paths: Record<string, Record<string, { responses: object }>>;
  components: { responses: Record<string, { content: Record<string, { example: { type: string } }> }> };
};

const link =
  '</v1/openapi.json>; rel="service-desc"; type="application/vnd.oai.openapi+json", </v1/docs>; rel="service-doc"; type="text/html"';

const opened = async (environment: Record<string, string> = {}) => {
  const { url: upstream, seen } = await recordingUpstream();
  const { url, core } = await listeningGateway(upstream, { DOCUMENTS: "true", ...environment });
  const get = (path: string, init?: RequestInit) => fetch(url + path, { redirect: "manual", ...init });
  return { get, seen, core };
};

test("openapi.json is that of the deployment: its prefixes and limits", async () => {
  const { get } = await opened({ PREFIXES: "/v1,/api/v2" });
  const read = async (path: string) => {
    const text = await (await get(path)).text();
    expect(openApiErrors(JSON.parse(text))).toEqual([]);
    return JSON.parse(text) as Document;
  };
  const [first, second] = [await read("/v1/openapi.json"), await read("/api/v2/openapi.json/")];
  expect([first.servers, second.servers]).toEqual([[{ url: "/v1" }], [{ url: "/api/v2" }]]);
  const contents = [first, second].map(({ components }) => components.responses["404"]?.content ?? {});
  expect(contents.map((content) => content["application/problem+json"]?.example.type)).toEqual([
    "/v1/problems#not-found",
    "/api/v2/problems#not-found",
  ]);
});

test("every operation of openapi.json may answer 429", async () => {
  const { get } = await opened();
  const { paths } = (await (await get("/v1/openapi.json")).json()) as Document;
  for (const methods of Object.values(paths))
    for (const { responses } of Object.values(methods)) expect(responses).toHaveProperty("429");
});

test("each document answers GET, HEAD and a tag that the client has", async () => {
  const { get, seen } = await opened();
  for (const [path, type] of [
    ["/v1/openapi.json", "application/vnd.oai.openapi+json"],
    ["/v1/docs", "text/html; charset=utf-8"],
    ["/v1/docs/", "text/html; charset=utf-8"],
    ["/v1/docs/swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
    ["/v1/docs/viewer.css", "text/css; charset=utf-8"],
    ["/v1/problems", "text/html; charset=utf-8"],
    ["/v1/problems/", "text/html; charset=utf-8"],
  ] as const) {
    const got = await get(path);
    const { length } = Buffer.from(await got.arrayBuffer());
    const { headers } = got;
    const names = ["content-type", "x-content-type-options", "access-control-allow-origin"];
    expect([path, got.status, ...names.map((name) => headers.get(name))]).toEqual([path, 200, type, "nosniff", "*"]);
    expect(headers.get("x-request-id")).toMatch(/^[\w-]{14,}$/);
    const plain = await get(path, { method: "HEAD", headers: { "Accept-Encoding": "identity" } });
    expect([plain.status, await plain.text(), plain.headers.get("content-length")]).toEqual([200, "", String(length)]);
    const etag = headers.get("etag") ?? "none";
    const held = await get(path, { headers: { "If-None-Match": etag } });
    expect([held.status, await held.text(), held.headers.get("etag")]).toEqual([304, "", etag]);
  }
  expect(seen).toEqual([]);
});

test("large documents are compressed as the client accepts it", async () => {
  const { get } = await opened();
  const lengths = ["br", "gzip", "identity"].map(async (coding) => {
    const { headers } = await get("/v1/docs/swagger-ui-bundle.js", { headers: { "Accept-Encoding": coding } });
    expect([headers.get("content-encoding") ?? "identity", headers.get("vary")]).toEqual([coding, "Accept-Encoding"]);
    return Number(headers.get("content-length"));
  });
  const [br = 0, gzip = 0, identity = 0] = await Promise.all(lengths);
  expect(br).toBeLessThan(identity / 3);
  expect(gzip).toBeLessThan(identity / 3);
});

test("a document whose thread ends silently is made again for the next client", async () => {
  const { get, core } = await opened();
  const { catalogue } = core;
  const { module } = catalogue;
  catalogue.module = "data:text/javascript,process.exit()";
  const first = get("/v1/openapi.json");
  const { status } = await first.finally(() => Object.assign(catalogue, { module }));
  expect([status, (await get("/v1/openapi.json")).status]).toEqual([500, 200]);
});

test("pages allow no script, style or request of another place", async () => {
  const { get } = await opened();
  for (const path of ["/v1/docs", "/v1/problems/"]) {
    const policy = (await get(path)).headers.get("content-security-policy");
    expect(policy).toMatch(/^default-src 'none'; script-src '/);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
  }
});

test("the type of a problem leads to its place on a page, with legacy's codes", async () => {
  const { get } = await opened();
  const problem = await get("/v1/datasets/abc", { headers: { Accept: "application/problem+json" } });
  const { type, title } = (await problem.json()) as { type: string; title: string };
  const sections = (await (await get(type)).text()).split("<section ");
  const place = `id="${new URL(type, "http://x").hash.slice(1)}"`;
  expect(sections.find((section) => section.startsWith(place))).toContain(title);
  const unknown = sections.find((section) => section.startsWith('id="not-found"'));
  expect(unknown).toMatch(/<dt>111\s*<dd>Unknown dataset/);
});

test("the former path of a problem type leads to the page", async () => {
  const { get } = await opened();
  const former = await get("/v1/problems/not-found");
  expect([former.status, former.headers.get("location")]).toEqual([302, "/v1/problems#not-found"]);
  expect((await get("/v1/problems/nothing")).status).toBe(404);
});

test("unknown paths and methods, and the prefix alone, lead to the documents", async () => {
  const { get } = await opened();
  const answers = [await get("/v1/nothing"), await get("/v1/datasets/61", { method: "DELETE" }), await get("/v1")];
  expect(answers.map(({ status }) => status)).toEqual([404, 405, 302]);
  expect(answers.map(({ headers }) => headers.get("link"))).toEqual([link, link, link]);
  expect(answers[2]?.headers.get("location")).toBe("/v1/docs");
});

test("a path that is nearly a document's is answered with that one", async () => {
  const { get } = await opened();
  for (const [path, suggested] of [
    ["/v1/openapi.jsn", "/v1/openapi.json"],
    ["/v1/doc", "/v1/docs"],
    ["/v1/problem/not-found", "/v1/problems/not-found"],
    ["/v1/problems/notfound/", "/v1/problems/not-found"],
  ] as const)
    expect(await (await get(path)).json()).toEqual({ detail: expect.stringContaining(` ${suggested}?`) as string });
});

test("a document has GET, HEAD and OPTIONS; below / other methods are legacy's", async () => {
  const { get, seen } = await opened({ PREFIXES: "/v1,/" });
  for (const path of ["/v1/docs", "/v1/openapi.json/", "/v1/problems/not-found"]) {
    const [refused, preflight] = [await get(path, { method: "POST" }), await get(path, { method: "OPTIONS" })];
    expect([refused.status, refused.headers.get("allow"), refused.headers.get("link")]).toEqual([
      405,
      "GET, HEAD, OPTIONS",
      link,
    ]);
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([
      204,
      "GET, HEAD, OPTIONS",
    ]);
  }
  expect(seen).toEqual([]);
  await get("/docs", { method: "POST" });
  expect(seen.map(({ method, target }) => [method, target])).toEqual([["POST", "/docs"]]);
});

test.each(["/v1", "/"])("legacy's answer to / leads to the catalogue by Link, with the prefix %s", async (prefix) => {
  const { get, seen } = await opened({ PREFIXES: prefix });
  const answer = await get("/?x");
  expect([answer.status, answer.headers.get("link")]).toEqual([200, '</.well-known/api-catalog>; rel="api-catalog"']);
  expect(await answer.text()).toBe('{"evaluation_measures":{"measures":{"measure":"kappa"}}}');
  expect((await get("/search")).headers.get("link")).toBeNull();
  expect(seen.map(({ target }) => target)).toEqual(["/?x", "/search"]);
});

test("the API catalogue names the documents of each prefix, and HEAD says so by Link", async () => {
  const { get, seen } = await opened({ PREFIXES: "/v1,/" });
  const got = await get("/.well-known/api-catalog");
  expect(got.headers.get("content-type")).toMatch(/^application\/linkset\+json;/);
  const { linkset } = (await got.json()) as { linkset: { anchor: string; "service-desc": { href: string }[] }[] };
  expect(linkset.map((api) => [api.anchor, api["service-desc"][0]?.href])).toEqual([
    ["/v1", "/v1/openapi.json"],
    ["/", "/openapi.json"],
  ]);
  const head = await get("/.well-known/api-catalog", { method: "HEAD" });
  expect([head.status, head.headers.get("link")]).toEqual([200, '</.well-known/api-catalog>; rel="api-catalog"']);
  expect(seen).toEqual([]);
});

test("DOCUMENTS=false leaves the catalogue to legacy", async () => {
  const { get, seen } = await opened({ DOCUMENTS: "false" });
  const root = await get("/");
  expect(root.headers.get("link")).toBeNull();
  await get("/.well-known/api-catalog");
  expect(seen.map(({ target }) => target)).toEqual(["/", "/.well-known/api-catalog"]);
});
