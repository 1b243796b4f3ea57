import { expect, onTestFinished, test } from "vitest";
import { startSampleLegacy } from "../../tools/sampleLegacy/startSampleLegacy.ts";
import { listeningGateway } from "../gateway/http/support.ts";
import { keys } from "../gateway/answer/support.ts";

/** Codes that openml-python's V2 client calls an empty result. */
const noResult = new Set([111, 372, 512, 500, 482, 542, 674]);

/**
 * One request as that client sends it, and what it makes of the answer: only 200 is a success, and `detail` has a code.
 */
const ask = async (origin: string, path: string, body?: unknown): Promise<unknown> => {
  const response = await fetch(`${origin}/api/v2/${path}`, {
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

const page = { limit: 10_000, offset: 0 };

test("openml-python V2 reads the new interface", async () => {
  const legacy = await startSampleLegacy();
  onTestFinished(() => legacy.close());
  const { url } = await listeningGateway(legacy.url, { PREFIXES: "/v1,/api/v2" });
  const cases: [path: string, body: unknown, expected: unknown][] = [
    ["datasets/61", undefined, expect.objectContaining({ id: 61, name: "iris", version: 1, format: "arff" })],
    ["datasets/999999", undefined, "OpenMLNoResult 111: Unknown dataset"],
    ["datasets/16", undefined, "OpenMLServerException 112: No access granted"],
    ["datasets/list", { pagination: page }, expect.arrayContaining([expect.objectContaining({ did: 61 })])],
    ["datasets/list", { pagination: page, data_id: [61] }, [expect.objectContaining({ did: 61 })]],
    ["datasets/list", { pagination: { ...page, offset: 10_000 } }, expect.stringMatching(/^OpenMLNoResult 372: /)],
    ["evaluationmeasure/list", undefined, expect.arrayContaining(["kappa"])],
    ["estimationprocedure/list", undefined, expect.arrayContaining([expect.objectContaining({ id: 1 })])],
    [`flows/exists/sample.ZeroRule/Sample_1.0/?api_key=${keys.user}`, undefined, { flow_id: 101 }],
    // Its own code is missing, so that the client does not see that the flow is only unknown.
    [`flows/exists/no.such/1/?api_key=${keys.user}`, undefined, "OpenMLServerError: unexpected"],
    // It does not understand a 422.
    ["datasets/none", undefined, "OpenMLServerError: unexpected"],
  ];
  for (const [path, body, expected] of cases) expect([path, await ask(url, path, body)]).toEqual([path, expected]);
});
