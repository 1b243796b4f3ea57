import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startSampleLegacy } from "../../../tools/sampleLegacy/startSampleLegacy.ts";
import { listeningGateway } from "../http/support.ts";
import { get, httpUpstream, request } from "../proxy/support.ts";
import { exchange, keys, measures } from "./support.ts";

/** Breaks off its answers for datasets from 900 on, as legacy does if PHP aborts. */
const breaking = async (text = measures) => {
  const asked: string[] = [];
  const url = await httpUpstream((incoming, response) => {
    asked.push(incoming.url ?? "");
    if (/\/9\d\d/.test(incoming.url ?? "")) incoming.socket.destroy();
    else response.writeHead(200, { "Content-Type": "application/json" }).end(text);
  });
  return { url, asked };
};

const behindProxy = { TRUSTED_PROXIES: "127.0.0.1" };
const from = (path: string, client: string) => get(path, `X-Forwarded-For: ${client}`);
const list = "/v1/evaluationmeasures/list";

test("one client's ids that break legacy are 502 to it, and no other client waits", async () => {
  const legacy = await breaking();
  const { port } = await listeningGateway(legacy.url, behindProxy);
  for (let id = 900; id < 940; id++) {
    // A client's claims do not make it another client.
    const { status } = await exchange(port, from(`/v1/datasets/${id}`, `198.51.100.${id - 900}, 192.0.2.1`));
    expect(status).toBe(502);
  }
  expect((await exchange(port, from(list, "192.0.2.9"))).status).toBe(200);
});

test("five requests that break legacy, by three clients, give it time", async () => {
  const legacy = await breaking();
  const { port } = await listeningGateway(legacy.url, behindProxy);
  for (let i = 0; i < 5; i++) await exchange(port, from(`/v1/datasets/90${i}`, `192.0.2.${i % 3}`));
  const asked = legacy.asked.length;
  const { status, headers } = await exchange(port, from(list, "192.0.2.9"));
  expect([status, headers.get("retry-after")]).toEqual([503, expect.stringMatching(/^\d+$/)]);
  expect(legacy.asked).toHaveLength(asked);
});

describe("modern's circuit opens by its failures, whoever asked", () => {
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
