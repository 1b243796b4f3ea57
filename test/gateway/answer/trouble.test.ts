import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Socket } from "node:net";
import { clock } from "../cache/support.ts";
import { get, httpUpstream, rawUpstream } from "../proxy/support.ts";
import { listeningGateway, recordingUpstream } from "../http/support.ts";
import { exchange, expectDetail, heldUpstream, taggingRequest } from "./support.ts";
import { startServer } from "../../../src/gateway/server.ts";
import { freePort } from "../../support/freePort.ts";
import { gatewayFor, type TestGateway } from "../../support/gateway.ts";
import { settled, until } from "../../support/waiting.ts";

const list = get("/v1/evaluationmeasures/list");

describe("a legacy in trouble", () => {
  test("a legacy whose name is unknown: 502", async () => {
    const { port } = await listeningGateway("http://no-such-host.invalid");
    expectDetail(await exchange(port, list), 502);
  });

  test("a legacy that cannot be connected to in time: 504 or 502, within that time", async () => {
    // An address for documentation: connections get no answer, or the network refuses them at once.
    const { port } = await listeningGateway("http://192.0.2.1", { TOTAL_TIMEOUT_MS: "400" });
    const answer = await exchange(port, list);
    expectDetail(answer, answer.status === 502 ? 502 : 504);
  });

  test("an overloaded legacy: 503 at once with Retry-After, until a place is free", async () => {
    const { url, asked, release } = await heldUpstream();
    const { port } = await listeningGateway(url, { MAX_CONNECTIONS: "1" }, { waiting: 1 });
    const send = () => exchange(port, get("/v1/evaluationmeasures/list", "Cache-Control: no-store"));
    const first = send();
    await until(() => asked.length === 1);
    const second = send();
    await settled();
    for (const question of [get("/v1/datasets/61"), taggingRequest.join("")]) {
      const refused = await exchange(port, question);
      expectDetail(refused, 503);
      expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    }
    release();
    expect([(await first).body, (await second).body, (await send()).body]).toEqual([
      '["kappa"]',
      '["kappa"]',
      '["kappa"]',
    ]);
    expect(asked).toHaveLength(3);
  });
});

test("one wait in the queue counts against the whole time", async () => {
  const { port } = await listeningGateway((await heldUpstream()).url, {
    MAX_CONNECTIONS: "1",
    TOTAL_TIMEOUT_MS: "200",
  });
  const all = await Promise.all([1, 2, 3].map(() => exchange(port, get("/v1/evaluationmeasures/list"))));
  // A request that waited too long in the queue itself would be 503.
  for (const answer of all) expectDetail(answer, 504);
});

test("an answer that does not fit the schema is 502, a new field stays; both count", async () => {
  const documents = ['{"id":"secret-id"}', '{"id":"1","doi":"10.1/x"}'];
  const { url } = await recordingUpstream(() => ({ body: `{"data_set_description":${documents.shift()}}` }));
  const { port, observer } = await listeningGateway(url);
  expectDetail(await exchange(port, get("/v1/datasets/1")), 502);
  expect(observer.counts()).toEqual({ "schema_mismatch getDataset": 1 });
  expect(JSON.parse((await exchange(port, get("/v1/datasets/1"))).body)).toMatchObject({ id: 1, doi: "10.1/x" });
  expect(observer.counts()).toMatchObject({ "unknown_field getDataset doi": 1 });
});

const loopOf = ({ core }: Pick<TestGateway, "core">) => ({
  errors: Object.entries(core.observer.counts()).filter(([name]) => name.startsWith("request_loop")),
  failing: core.dependencies.failed().map(({ trouble, effect }) => `${trouble}: ${effect}`),
});

test.each(["/v1/datasets/61", "/website"])("a loop is told of a request that is under way: %s", async (path) => {
  const port = await freePort();
  const gateway = await gatewayFor(`http://127.0.0.1:${port}`);
  const server = await startServer(gateway, { host: "127.0.0.1", port, prefixes: ["/v1"] });
  const timers = vi.spyOn(globalThis, "setTimeout");
  onTestFinished(async () => {
    timers.mockRestore();
    await server.stop(0);
    await gateway.close();
  });
  expectDetail(await exchange(port, get(path)), 502);
  const trouble = "Requests have been coming back to this gateway: LEGACY_URL or MODERN_URL leads here";
  expect(loopOf(gateway)).toEqual({
    errors: [[expect.stringMatching(/^request_loop/), 1]],
    failing: [expect.stringContaining(trouble)],
  });
  const [fiveMinutesLater, , ...given] = timers.mock.calls.find(([, ms]) => ms === 300_000) ?? [];
  fiveMinutesLater?.(...given);
  expect(loopOf(gateway).failing).toEqual([]);
});

test.each([
  ["/v1/evaluationmeasures/list", "The gateway's upstream is the gateway itself."],
  ["/website", "The request has been through this gateway before."],
])(
  "a stranger's request with our name in Via is 502, is not sent to legacy, and is no error: %s",
  async (path, detail) => {
    const { url, seen } = await recordingUpstream();
    const gateway = await listeningGateway(url);
    await exchange(gateway.port, get(path));
    const { via, "x-request-id": id } = seen[0]?.headers ?? {};
    for (const known of [[], [`X-Request-Id: ${String(id)}`]]) {
      const refused = await exchange(gateway.port, get(path, `Via: 1.0 other, ${String(via)}`, ...known));
      expectDetail(refused, 502);
      expect(JSON.parse(refused.body)).toEqual({ detail });
    }
    expect(seen).toHaveLength(1);
    expect(loopOf(gateway)).toEqual({ errors: [], failing: [] });
  },
);

test("a client that knows our name and a waiting request's id does not prove a loop", async () => {
  const seen: IncomingMessage[] = [];
  const held: ServerResponse[] = [];
  const url = await httpUpstream((incoming, response) => {
    seen.push(incoming);
    if (incoming.url === "/slow") held.push(response);
    else response.end();
  });
  const gateway = await listeningGateway(url);
  await exchange(gateway.port, get("/quick"));
  const via = String(seen[0]?.headers.via);
  const slow = exchange(gateway.port, get("/slow"));
  await until(() => held.length === 1);
  const id = String(seen[1]?.headers["x-request-id"]);
  expectDetail(await exchange(gateway.port, get("/x", `Via: ${via}`, `X-Request-Id: ${id}`)), 502);
  expect(loopOf(gateway)).toEqual({ errors: [], failing: [] });
  // The name that legacy was told of the waiting request proves it, through another gateway as well.
  const through = `Via: ${String(seen[1]?.headers.via)}, 1.1 catalog-gateway-00000000`;
  expectDetail(await exchange(gateway.port, get("/x", through, "X-Request-Id: of-another")), 502);
  expect(loopOf(gateway).errors).toEqual([["request_loop", 1]]);
  held[0]?.end();
  await slow;
});

test("a request with an interim answer at once is not slow, however late its end", async () => {
  const { pass } = clock();
  const waiting: Socket[] = [];
  const { origin } = await rawUpstream((socket) => {
    socket.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
    waiting.push(socket);
  });
  const { port, core } = await listeningGateway(origin);
  const asked = ["/a", "/b", "/c"].map((path) => fetch(`http://127.0.0.1:${port}${path}`));
  await until(() => waiting.length === 3 && core.load() > 0);
  await settled();
  pass(6000);
  for (const socket of waiting) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(core.legacyTroubles()).toEqual([]);
});
