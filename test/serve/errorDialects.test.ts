import { expect, test } from "vitest";
import { startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { listeningGateway } from "../http/support.ts";

const problemJson = "application/problem+json";

test("every error comes in the dialect that Accept prefers, stored ones too", async () => {
  const legacy = await startSampleLegacy();
  const { port } = await listeningGateway(legacy.url, { PREFIXES: "/v1,/v2", ERRORS: '{"/v2":"problem"}' });
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
      body: { type: "/v1/problems/not-found", code: "111", detail: "Unknown dataset" },
    });
    expect(await ask("/v2/datasets/1000000")).toMatchObject({ type: problemJson, body: { status: 404 } });
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
    expect(await ask(path, "*/*", init)).toMatchObject({
      status,
      type: problemJson,
      vary: expect.arrayContaining(["Accept"]) as string[],
      body: { type: `/v2/problems/${slug}`, status },
    });
  expect(await ask("/v2/datasets/61")).toMatchObject({ status: 200, type: "application/json" });
  await legacy.close();
});
