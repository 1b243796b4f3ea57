import { expect, test } from "vitest";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { problemOf, problemTypes } from "../../../src/gateway/http/problemDetails.ts";
import { listeningGateway, recordingUpstream } from "../http/support.ts";
import { get } from "../proxy/support.ts";
import { gatewayFor } from "../../support/gateway.ts";
import { exchange } from "./support.ts";

const problemJson = "application/problem+json";

test("the format that Accept prefers is chosen, below a prefix and at the root", async () => {
  const { app } = await gatewayFor("http://127.0.0.1:1", { PREFIXES: "/v1,/" });
  const accepts: [accept: string, preferred: string][] = [
    ["*/*", "detail"],
    ["text/html", "detail"],
    ["application/problem+json", "problem"],
    ["Application/Problem+JSON;q=0.5", "problem"],
    ["application/json", "detail"],
    ["application/json, application/problem+json", "problem"],
    ["application/problem+json, application/json", "problem"],
    ["application/problem+json;q=0.4, */*;q=0.4", "problem"],
    ["application/json;q=0.9, application/problem+json", "problem"],
    ["application/json, application/problem+json;q=0.9", "detail"],
    ["application/problem+json;q=0", "detail"],
    ["application/problem+json;q=0, */*", "detail"],
    ["application/problem+json, */*;q=0.1", "problem"],
    ["*/*, application/json;q=0.2", "problem"],
  ];
  for (const [Accept, preferred] of accepts)
    for (const path of ["/v1/datasets/x", "/datasets/x"]) {
      const { headers } = await app.request(path, { headers: { Accept } });
      const type = preferred === "problem" ? problemJson : "application/json";
      expect([Accept, headers.get("content-type")]).toEqual([Accept, type]);
    }
});

test("a problem lists the errors of the input, and sums them up in one sentence", async () => {
  const { app } = await gatewayFor("http://127.0.0.1:1");
  const ask = async (Accept: string) => {
    const body = JSON.stringify({
      limit: "x",
      ...Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f${i}`, 1])),
    });
    const response = await app.request("/v1/datasets/list", {
      method: "POST",
      headers: { Accept, "Content-Type": "application/json" },
      body,
    });
    return (await response.json()) as { detail: string; errors: unknown };
  };
  const { detail: errors } = await ask("application/json");
  const problem = await ask(problemJson);
  expect(problem).toMatchObject({ type: "/v1/problems#invalid-input", status: 422, errors });
  expect(problem.detail).toMatch(/^body\.limit: [^;]+; body\.f0: [^]+…$/);
});

test("a problem keeps legacy's code, and what legacy adds", async () => {
  const code = "<oml:code>111</oml:code><oml:message>Unknown dataset</oml:message>";
  const more = "<oml:additional_information>61</oml:additional_information>";
  const error = `<oml:error xmlns:oml="http://openml.org/openml">${code}${more}</oml:error>`;
  const { url } = await recordingUpstream(() => ({
    status: 412,
    body: error,
    headers: { "Content-Type": "text/xml" },
  }));
  const { app } = await gatewayFor(url);
  const response = await app.request("/v1/datasets/61", { headers: { Accept: problemJson } });
  expect(await response.json()).toEqual({
    type: "/v1/problems#not-found",
    title: "There is no such resource",
    status: 404,
    detail: "Unknown dataset",
    code: "111",
    additional_information: "61",
  });
});

test("no two types of problems have the same URI", () => {
  const slugs = Object.values(problemTypes).map(({ slug }) => slug);
  expect(new Set(slugs).size).toBe(slugs.length);
});

test("every error comes in the format that Accept prefers, stored ones too", async () => {
  const legacy = await startSampleLegacy();
  const { port } = await listeningGateway(legacy.url, { PREFIXES: "/v1,/v2" });
  const ask = async (path: string, accept = "*/*", init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      headers: { ...(init.headers as Record<string, string>), Accept: accept },
    });
    const type = response.headers.get("content-type");
    const vary = response.headers.get("vary")?.split(", ");
    return { status: response.status, type, vary, body: (await response.json()) as Record<string, unknown> };
  };
  const unknown = { code: "111", message: "Unknown dataset" };
  for (let i = 0; i < 3; i++) {
    expect(await ask("/v1/datasets/1000000")).toMatchObject({
      type: "application/json",
      vary: expect.arrayContaining(["Accept"]) as string[],
      body: { detail: unknown },
    });
    expect(await ask("/v1/datasets/1000000", problemJson)).toMatchObject({
      status: 404,
      type: problemJson,
      vary: expect.arrayContaining(["Accept"]) as string[],
      body: { type: "/v1/problems#not-found", code: "111", detail: "Unknown dataset" },
    });
    expect(await ask("/v2/datasets/1000000", "application/json")).toMatchObject({ body: { detail: unknown } });
  }
  const others: [string, number, string, RequestInit?][] = [
    ["/v2/nothing", 404, "not-found"],
    ["/v2/datasets/61", 405, "method-not-allowed", { method: "PUT" }],
    ["/v2/datasets/x", 422, "invalid-input"],
    ["/v2/datasets/61?api_key=-", 401, "unauthenticated"],
    [
      "/v2/datasets/list",
      415,
      "unsupported-media-type",
      { method: "POST", body: "x", headers: { "Content-Type": "text/plain" } },
    ],
  ];
  for (const [path, status, slug, init] of others)
    expect(await ask(path, problemJson, init)).toMatchObject({
      status,
      type: problemJson,
      vary: expect.arrayContaining(["Accept"]) as string[],
      body: { type: `/v2/problems#${slug}`, status },
    });
  expect(await ask("/v2/datasets/61", `${problemJson}, */*`)).toMatchObject({ status: 200, type: "application/json" });
  await legacy.close();
});

test("a WebSocket is refused in both formats", async () => {
  const { url } = await recordingUpstream();
  const { port } = await listeningGateway(url, { PREFIXES: "/v1,/v2" });
  const detail = "WebSocket is not supported.";
  const refused = async (path: string, accept = "*/*") => {
    const upgrade = ["Connection: upgrade", "Upgrade: websocket"];
    const { status, headers, body } = await exchange(port, get(path, `Accept: ${accept}`, ...upgrade));
    return [status, headers.get("content-type"), headers.get("vary"), JSON.parse(body)] as unknown[];
  };
  const problem = (base: string) => problemOf(501, { detail }, base);
  expect(await refused("/v1/datasets/61")).toEqual([501, "application/json", "Accept", { detail }]);
  expect(await refused("/v1/datasets/61", problemJson)).toEqual([501, problemJson, "Accept", problem("/v1")]);
  expect(await refused("/v2/datasets/61?a=b", problemJson)).toEqual([501, problemJson, "Accept", problem("/v2")]);
  expect(await refused("/v2/x", "application/json")).toEqual([501, "application/json", "Accept", { detail }]);
  expect(await refused("/other", problemJson)).toEqual([501, "application/json", undefined, { detail }]);
  expect(problem("/v2").type).toBe("/v2/problems#not-implemented");
});
