import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { GatewayParts } from "../../support/gateway.ts";
import { until } from "../../support/waiting.ts";
import { exchange } from "../answer/support.ts";
import { get, request } from "../proxy/support.ts";
import {
  bases,
  beAway,
  beSilent,
  breakOff,
  broken,
  deleting,
  expectEmpty,
  expectError,
  files,
  forms,
  late,
  looped,
  post,
  reading,
  readingByPost,
  resetting,
  type Send,
  startLegacy,
  unreachable,
  writing,
} from "./ownErrorsSupport.ts";
import { listeningGateway } from "./support.ts";

const fault = () => {
  throw new TypeError("planted");
};
const throwing: GatewayParts = {
  adding: () => ({ steps: () => ({ hitPath: [fault], router: [], passThrough: [] }) }),
};

type Case = [
  what: string,
  legacy: () => Promise<string>,
  send: Send,
  status: number,
  code: string,
  says: string,
  environment?: Record<string, string>,
  parts?: GatewayParts,
];
const soon = { HEADERS_TIMEOUT_MS: "100" };
const cases: Case[] = [
  ["a read, legacy away", beAway, reading, 502, "107", unreachable],
  ["a read by POST, legacy away", beAway, readingByPost, 502, "107", unreachable],
  ["a write of which nothing was sent", beAway, writing, 502, "107", unreachable],
  ["a read that is broken off", breakOff, reading, 502, "107", broken],
  ["a read by POST that is broken off", breakOff, readingByPost, 502, "107", broken],
  ["a write that is broken off", breakOff, writing, 502, "9502", broken],
  ["a GET that writes and is broken off", breakOff, resetting, 502, "9502", broken],
  ["a deletion that is broken off", breakOff, deleting, 502, "9502", broken],
  ["a read without an answer", beSilent, reading, 504, "107", late, soon],
  ["a write without an answer", beSilent, writing, 504, "9504", late, soon],
  ["a cached read, legacy away", beAway, reading, 502, "107", unreachable, { CACHE_LEGACY: "all" }],
  ["a WebSocket", beAway, (base) => get(`${base}/x`, "Upgrade: websocket"), 501, "9501", "WebSocket is not supported."],
  ["a fault, reading", beAway, reading, 500, "107", "Internal Server Error", {}, throwing],
  ["a fault, writing", beAway, writing, 500, "9500", "Internal Server Error", {}, throwing],
];

describe.each(forms)("an error of the gateway's own below LEGACY_PATH, as %s", (form) => {
  const [base = ""] = bases[form];

  test.each(cases)(
    "the gateway's own error has legacy's form: %s",
    async (_, legacy, send, status, code, says, environment, parts) => {
      const { port } = await listeningGateway(await legacy(), environment, parts);
      expectError(form, await exchange(port, send(base)), status, code, says);
    },
  );

  test.each(bases[form])("an error below %s has legacy's form", async (path) => {
    const { port } = await listeningGateway(await beAway());
    expectError(form, await exchange(port, reading(path)), 502, "107", unreachable);
  });

  test.each(["/", "/v1,/", "/api/v2,/"])(
    "with PREFIXES %s errors of the legacy interface have its form",
    async (PREFIXES) => {
      const { port } = await listeningGateway(await breakOff(), { PREFIXES });
      const problem = "Accept: application/problem+json";
      expectError(form, await exchange(port, get(`${base}/data/61`, problem)), 502, "107", broken);
      expectError(form, await exchange(port, writing(base)), 502, "9502", broken);
    },
  );

  test("with LEGACY_PATH=/ its errors have its form, and others ours", async () => {
    const { port } = await listeningGateway(await breakOff(), { LEGACY_PATH: "/" });
    const below = form === "json" ? "/json" : "/xml";
    expectError(form, await exchange(port, reading(below)), 502, "107", broken);
    expectError(form, await exchange(port, writing(below)), 502, "9502", broken);
    expect((await exchange(port, get("/v1/unknown"))).body).toBe('{"detail":"Not Found"}');
  });

  test("a request that comes back through its own gateway is refused as a loop", async () => {
    const { origin, requests } = await startLegacy((socket) => socket.destroy());
    const { port } = await listeningGateway(origin);
    await exchange(port, reading(base));
    const via = /^via: (.*)\r$/im.exec(requests[0] ?? "")?.[1];
    expectError(form, await exchange(port, get(`${base}/data/61`, `Via: ${via}`)), 502, "9502", looped);
  });

  test("a body that stops coming is 408 in legacy's form", async () => {
    const { port } = await listeningGateway(await beAway(), { BODY_TIMEOUT_MS: "100" });
    const answer = await exchange(port, `${request(`POST ${base}/data/tag`, "Content-Length: 10")}half`);
    expectError(form, answer, 408, "9408", "The request's body stopped coming.");
  });

  test.each([
    ["a read", reading],
    ["a write", writing],
  ])("%s for which there is no room is 503 in legacy's form", async (_, send) => {
    const { origin, requests } = await startLegacy(() => undefined);
    const { port } = await listeningGateway(origin, { MAX_CONNECTIONS: "1" }, { waiting: 0 });
    const held = connect(port, "127.0.0.1").on("error", () => undefined);
    onTestFinished(() => void held.destroy());
    held.write(send(base));
    await until(() => requests.length === 1);
    const answer = await exchange(port, send(base));
    expectError(form, answer, 503, "107", "Too many requests wait for the upstream.");
    expect(answer.headers.get("retry-after")).toBe("1");
  });

  test("HEAD gets the status alone", async () => {
    const { port } = await listeningGateway(await beAway());
    expect(await exchange(port, request(`HEAD ${base}/data/61`))).toMatchObject({ status: 502, body: "" });
  });
});

describe("outside of LEGACY_PATH", () => {
  test("errors outside of LEGACY_PATH have the gateway's form", async () => {
    const { port } = await listeningGateway(await beAway());
    const { status, headers, body } = await exchange(port, get("/d/61"));
    expect([status, headers.get("content-type"), headers.has("retry-after"), body]).toEqual([
      502,
      "application/json",
      false,
      `{"detail":"${unreachable}"}`,
    ]);
  });
});

describe.each(files)("a data file that fails has no body: %s", (path) => {
  test.each<[string, () => Promise<string>, number, Record<string, string>?, GatewayParts?]>([
    ["legacy is away", beAway, 502],
    ["legacy breaks off", breakOff, 502],
    ["legacy is silent", beSilent, 504, soon],
    ["the prefix is /", beAway, 502, { PREFIXES: "/" }],
    ["a fault", beAway, 500, {}, throwing],
  ])("%s", async (_, legacy, status, environment, parts) => {
    const { port } = await listeningGateway(await legacy(), environment, parts);
    expectEmpty(await exchange(port, get(path)), status);
  });
});

test("an upload to a data file's path, or a similar path, is no data file", async () => {
  const { port } = await listeningGateway(await beAway());
  for (const text of [post("/data/download/1"), get("/data/downloads/1"), get("/x?/data/download/1")])
    expect((await exchange(port, text)).body).toBe(`{"detail":"${unreachable}"}`);
});
