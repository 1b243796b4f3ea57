import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer } from "../../src/serve/server.ts";
import { type SampleLegacy, startSampleLegacy } from "../../src/tools/sampleLegacy/startSampleLegacy.ts";
import { keys } from "../serve/support.ts";
import { gatewayFor, type TestGateway } from "../support/gateway.ts";

let legacy: SampleLegacy;
let gateway: TestGateway;
let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  legacy = await startSampleLegacy();
  gateway = await gatewayFor(legacy.url, { PREFIXES: "/v1,/api/v2" });
  server = await startServer(gateway, { host: "127.0.0.1", port: 0, prefixes: ["/v1", "/api/v2"] });
});
afterAll(async () => {
  await server.stop(1000);
  await gateway.close();
  await legacy.close();
});

/** Codes that its V2 client calls an empty result. */
const noResult = new Set([111, 372, 512, 500, 482, 542, 674]);

/** One request as openml-python's V2 client sends it, and what it makes of the answer: only 200 is a success, and `detail` has a code. */
const ask = async (path: string, body?: unknown): Promise<unknown> => {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/v2/${path}`, {
    headers: { "User-Agent": "openml-python/0.16.0", "Content-Type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status === 200) return JSON.parse(text) as unknown;
  if (!response.headers.get("content-type")?.includes("application/json")) return "ExpatError";
  const { detail } = JSON.parse(text) as { detail: { code: string; message: string } };
  if (typeof detail !== "object" || Array.isArray(detail)) return "OpenMLServerError: unexpected";
  const kind = noResult.has(Number(detail.code)) ? "OpenMLNoResult" : "OpenMLServerException";
  return `${kind} ${detail.code}: ${detail.message}`;
};

describe("openml-python V2 over the new interface", () => {
  test("reads a dataset, and knows an unknown one from a private one", async () => {
    expect(await ask("datasets/61")).toMatchObject({
      id: 61,
      name: "iris",
      version: 1,
      format: "arff",
      url: expect.any(String),
    });
    expect(await ask("datasets/999999")).toBe("OpenMLNoResult 111: Unknown dataset");
    expect(await ask("datasets/16")).toBe("OpenMLServerException 112: No access granted");
  });

  test("lists datasets with its page of 10,000, as its parser reads them", async () => {
    const rows = (await ask("datasets/list", { pagination: { limit: 10_000, offset: 0 } })) as {
      did: number;
      status: string;
      quality: { name: string; value: number }[];
    }[];
    expect(rows.length).toBeGreaterThan(3);
    for (const { did, quality } of rows) {
      expect(Number.isInteger(did)).toBe(true);
      expect(quality.every(({ value }) => typeof value === "number")).toBe(true);
    }
    expect(await ask("datasets/list", { pagination: { limit: 10_000, offset: 0 }, data_id: [61] })).toMatchObject([
      { did: 61 },
    ]);
    expect(await ask("datasets/list", { pagination: { limit: 10_000, offset: 10_000 } })).toMatch(
      /^OpenMLNoResult 372: /,
    );
  });

  test("reads measures and procedures", async () => {
    expect(await ask("evaluationmeasure/list")).toContain("kappa");
    expect(await ask("estimationprocedure/list")).toContainEqual(
      expect.objectContaining({ id: 1, name: "10-fold Crossvalidation" }),
    );
  });

  test("asks for a flow by its escaped name, with a slash at the end", async () => {
    const named = (name: string, version: string) =>
      ask(`flows/exists/${encodeURIComponent(name)}/${encodeURIComponent(version)}/?api_key=${keys.user}`);
    expect(await named("sample.ZeroRule", "Sample_1.0")).toEqual({ flow_id: expect.any(Number) });
    // Its own code is missing, so that the client does not see that the flow is only unknown.
    expect(await named("no.such", "1")).toBe("OpenMLServerError: unexpected");
  });

  test("does not understand a 422", async () => {
    expect(await ask("datasets/none")).toBe("OpenMLServerError: unexpected");
  });
});
