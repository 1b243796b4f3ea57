import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { exchange, keys } from "../../gateway/answer/support.ts";
import { listeningGateway, recordingUpstream } from "../../gateway/http/support.ts";
import { get, httpUpstream, request, send } from "../../gateway/proxy/support.ts";
import { startPrivateBackend } from "../../gateway/upstream/privateAuthority.ts";
import { describeWith } from "../../support/needs.ts";

const list = "/v1/evaluationmeasures/list";
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test("modern gets the id and the trace of the request", async () => {
  const legacy = await recordingUpstream();
  const modern = await recordingUpstream();
  const { port } = await listeningGateway(legacy.url, {
    MODERN_URL: modern.url,
    STAGES: '{"listEvaluationMeasures":{"stage":"modern"}}',
  });
  const { head } = await send(port, get(list, `traceparent: ${traceparent}`, "tracestate: a=1"));
  const [, id] = /^x-request-id: (\S+)/im.exec(head) ?? [];
  expect(modern.seen.at(-1)?.headers).toMatchObject({ "x-request-id": id, traceparent, tracestate: "a=1" });
});

describe("modern's circuit opens by its failures, from any caller", () => {
  /** A gateway whose new implementation breaks off or hangs at its first requests. */
  const open = async (failing: "broken" | "hanging", MODERN_TIMEOUT_MS = "200") => {
    const asked: string[] = [];
    const modern = await httpUpstream((incoming, response) => {
      asked.push(`${incoming.method} ${incoming.url?.split("?")[0]}`);
      if (failing === "broken") response.writeHead(500).end();
    });
    const legacy = await startSampleLegacy();
    onTestFinished(legacy.close);
    const stage = { stage: "modern", share: 0 };
    const { port } = await listeningGateway(legacy.url, {
      MODERN_URL: modern,
      MODERN_TIMEOUT_MS,
      STAGES: JSON.stringify({ getDataset: stage, listEvaluationMeasures: stage, tagSetup: stage }),
    });
    return { port, asked };
  };

  test.each(["broken", "hanging"] as const)(
    "while modern is %s its circuit opens, and legacy answers at once",
    async (failing) => {
      const { port, asked } = await open(failing);
      const decisions: unknown[] = [];
      for (const id of [61, 2, 3, 61, 2]) {
        const { status, headers } = await exchange(port, get(`/v1/datasets/${id}`));
        expect(status).toBe(200);
        decisions.push(headers.get("gateway-decision"));
      }
      expect(new Set(decisions)).toEqual(new Set(["stage=modern; backend=legacy; reason=fallback"]));
      const other = await exchange(port, get(list));
      expect([other.status, other.headers.get("gateway-decision")]).toEqual([200, decisions[0]]);
      expect(asked).toEqual(["GET /datasets/61", "GET /datasets/2", "GET /datasets/3"]);
    },
  );

  test("modern's circuit opens by one caller that waits five seconds for each answer", async () => {
    const { port, asked } = await open("broken", "5000");
    const now = performance.now.bind(performance);
    let later = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now() + later);
    onTestFinished(() => void vi.restoreAllMocks());
    for (const id of [61, 2, 3]) {
      later += 5000;
      expect((await exchange(port, get(`/v1/datasets/${id}`))).status).toBe(200);
    }
    expect((await exchange(port, get(list))).status).toBe(200);
    expect(asked).toHaveLength(3);
  });

  test("writes are sent on, each once", async () => {
    const { port, asked } = await open("broken");
    for (const id of [61, 2, 3, 61]) await exchange(port, get(`/v1/datasets/${id}`));
    asked.length = 0;
    const body = '{"setup_id":1,"tag":"a"}';
    const head = ["X-API-Key", "Content-Type", "Content-Length"].map(
      (name, i) => `${name}: ${[keys.user, "application/json", body.length][i]}`,
    );
    for (let i = 0; i < 2; i++) {
      const { status } = await exchange(port, request("POST /v1/setup/tag", ...head), body);
      expect(status).toBe(502);
    }
    expect(asked).toEqual(["POST /setup/tag", "POST /setup/tag"]);
  });
});

describeWith("openssl", "a new implementation with a private authority", () => {
  test("MODERN_CA makes the new implementation trusted", async () => {
    const { at, port, close } = await startPrivateBackend();
    onTestFinished(close);
    const STAGES = '{"listEvaluationMeasures": {"stage": "modern"}}';
    const environment = { LEGACY_CA: at("ca.pem"), MODERN_URL: `https://localhost:${port}`, STAGES };
    const answerOf = async (more: Record<string, string>) => {
      const { url } = await listeningGateway(`https://localhost:${port}`, { ...environment, ...more });
      return (await fetch(`${url}/v1/evaluationmeasures/list`)).json();
    };
    expect(await answerOf({})).toEqual(["kappa"]);
    expect(await answerOf({ MODERN_CA: at("ca.pem") })).toEqual(["f1"]);
  });
});
