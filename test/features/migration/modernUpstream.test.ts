import { expect, onTestFinished, test } from "vitest";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { exchange } from "../../gateway/answer/support.ts";
import { listeningGateway, recordingUpstream } from "../../gateway/http/support.ts";
import { get, httpUpstream, send } from "../../gateway/proxy/support.ts";
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

test.each(["broken", "hanging"])(
  "while modern is %s its circuit opens, and legacy answers at once",
  async (failing) => {
    const asked: unknown[] = [];
    const modern = await httpUpstream((incoming, response) => {
      asked.push(incoming.url);
      if (failing === "broken") response.writeHead(500).end();
    });
    const legacy = await startSampleLegacy();
    onTestFinished(legacy.close);
    const stage = { stage: "modern", share: 0 };
    const { port } = await listeningGateway(legacy.url, {
      MODERN_URL: modern,
      MODERN_TIMEOUT_MS: "200",
      STAGES: JSON.stringify({ getDataset: stage, listEvaluationMeasures: stage }),
    });
    for (const path of ["/v1/datasets/61", "/v1/datasets/2", "/v1/datasets/3", "/v1/datasets/61", list]) {
      const { status, headers } = await exchange(port, get(path));
      const decision = "stage=modern; backend=legacy; reason=fallback";
      expect([path, status, headers.get("gateway-decision")]).toEqual([path, 200, decision]);
    }
    expect(asked).toEqual(["/datasets/61", "/datasets/2", "/datasets/3"]);
  },
);

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
