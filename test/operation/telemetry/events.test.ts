import { nothing } from "../../../src/gateway/answer/additions.ts";
import { expect, onTestFinished, test } from "vitest";
import { openGateway as gatewayOver } from "../../../src/gateway/openGateway.ts";
import { startServer } from "../../../src/gateway/server.ts";
import { openObserver } from "../../../src/operation/telemetry/observer.ts";
import { catalogue } from "../../../transforms/catalogue.ts";
import { recordingUpstream } from "../../gateway/http/support.ts";
import { get, httpUpstream, send } from "../../gateway/proxy/support.ts";
import { freePort } from "../../support/freePort.ts";
import { settingsOf } from "../../support/settings.ts";
import { until } from "../../support/waiting.ts";
import { openPipe } from "./support.ts";

const KEY = "0123456789abcdef0123456789abcdeF";
const ours = "/v1/evaluationmeasures/list";

/** A gateway without features that logs into a pipe. */
const logging = async (url: string, environment: Record<string, string> = {}) => {
  const loaded = settingsOf({ LEGACY_URL: url, ...environment });
  if ("errors" in loaded) throw new Error(loaded.errors.join("\n"));
  const { settings } = loaded;
  const pipe = openPipe();
  const observer = openObserver(settings.LOG_LEVEL, pipe.writer());
  const gateway = await gatewayOver({ ...settings, LEGACY_URL: url }, catalogue, observer, nothing);
  const server = await startServer(gateway, { host: "127.0.0.1", port: 0, prefixes: settings.PREFIXES });
  onTestFinished(async () => {
    await server.stop(0);
    await gateway.close();
  });
  let text = "";
  const lines = async (count: number): Promise<Record<string, unknown>[]> => {
    await until(() => (text += pipe.read()).split("\n").length > count);
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  return { port: server.port, server, lines, text: () => text };
};

/** An origin on which nothing listens. */
const nowhere = async () => `http://127.0.0.1:${await freePort()}`;

const idOf = (head: string) => /^x-request-id: (.*)\r$/im.exec(head)?.[1];

test.each([
  { path: `${ours}?api_key=${KEY}`, event: "legacy_failed", shown: `${ours}?api_key` },
  { path: `/api/v1/json/data/${KEY}?a=1`, event: "pass_through_failed", shown: "/api/v1/json/data/(...)?a" },
])("a legacy that cannot be reached is an error, with the request: $event", async ({ path, event, shown }) => {
  const { port, lines, text } = await logging(await nowhere());
  const { head } = await send(port, get(path));
  const line = (await lines(1)).find((entry) => entry["event"] === event);
  expect(line).toMatchObject({ level: 50, event, requestId: idOf(head), path: shown });
  expect(line?.["msg"]).toMatch(/^[A-Z].*\.$/);
  expect(text().toLowerCase()).not.toContain(KEY.toLowerCase());
});

test("events name their own request, though connections are shared", async () => {
  const url = await httpUpstream((request, response) => {
    if (request.url?.includes("cut")) response.socket?.destroy();
    else setTimeout(() => response.end("x"), 5);
  });
  const { port, lines } = await logging(url);
  for (let i = 0; i < 3; i++) await send(port, get("/warm"));
  const cut = await Promise.all(Array.from({ length: 5 }, (_, i) => send(port, get(`/cut/${i}`))));
  const logged = await lines(5);
  const named = logged.map(({ path, requestId }) => `${String(path)} ${String(requestId)}`).toSorted();
  expect(named).toEqual(cut.map(({ head }, i) => `/cut/${i} ${idOf(head)}`).toSorted());
});

test("a failure of legacy is logged once, as an error", async () => {
  const { port, lines, text } = await logging(await nowhere());
  for (let i = 0; i < 8; i++) await send(port, get(`/v1/datasets/${i + 1}`));
  await lines(9);
  expect(text().match(/"event":"legacy_failing"/g)).toHaveLength(1);
  const failing = (await lines(9)).find(({ event }) => event === "legacy_failing");
  expect(failing).toMatchObject({ level: 50, why: "it cannot be reached" });
});

test("refused requests share one line with their number", async () => {
  const { url } = await recordingUpstream();
  const { port, server, lines } = await logging(url);
  for (let i = 0; i < 3; i++) await send(port, "\x16\x03\x01\r\n\r\n");
  await send(port, get("/", `X-Long: ${"x".repeat(20_000)}`));
  await server.stop(1000);
  const logged = await lines(1);
  expect(logged).toMatchObject([{ level: 40, event: "requests_refused", statuses: { 400: 3, 431: 1 } }]);
});

test("LOG_LEVEL=debug logs the requests to legacy of both interfaces, without keys", async () => {
  const { url } = await recordingUpstream();
  const { port, lines, text } = await logging(url, { LOG_LEVEL: "debug" });
  const mine = await send(port, get(`${ours}?api_key=${KEY}`));
  const theirs = await send(port, get(`/api/v1/json/${KEY}?api_key=${KEY}`, `Authorization: Bearer ${KEY}`));
  const asked = (await lines(2)).filter(({ event }) => event === "legacy_asked");
  expect(asked[0]).toMatchObject({ level: 20, method: "GET", status: 200, bytes: 56, requestId: idOf(mine.head) });
  expect(asked[0]?.["asked"]).toBe("/api/v1/json/evaluationmeasure/list?api_key");
  expect(asked.at(-1)).toMatchObject({
    asked: "/api/v1/json/(...)?api_key",
    requestId: idOf(theirs.head),
  });
  expect(text().toLowerCase()).not.toContain(KEY.toLowerCase());
});
