import { connect } from "node:net";
import { XMLParser } from "fast-xml-parser";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { FeatureModule } from "../../../src/gateway/answer/feature.ts";
import type { GatewayParts } from "../../support/gateway.ts";
import { freePort } from "../../support/freePort.ts";
import { until } from "../../support/waiting.ts";
import { exchange } from "../answer/support.ts";
import { get, rawUpstream, request } from "../proxy/support.ts";
import { isProbeOfLegacy, listeningGateway } from "./support.ts";

type Answer = Awaited<ReturnType<typeof exchange>>;

/** A legacy that answers the gateway's probe alone; what it does with any other request says `act`. */
const startLegacy = (act: (socket: { destroy: () => void }) => void) => {
  const probed = '{"evaluation_measures":{"measures":{"measure":["kappa"]}}}';
  return rawUpstream((socket, text) => {
    const [, url = ""] = text.split(" ");
    if (isProbeOfLegacy({ url, headers: { "user-agent": /^user-agent: (.*)\r$/im.exec(text)?.[1] } }))
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 58\r\n\r\n${probed}`);
    else act(socket);
  });
};

const breakOff = async () => (await startLegacy((socket) => socket.destroy())).origin;
const beSilent = async () => (await startLegacy(() => undefined)).origin;
const beAway = async () => `http://127.0.0.1:${await freePort()}`;

const forms = ["json", "xml"] as const;
type Form = (typeof forms)[number];

/** The paths at which each form is asked for; those of the new interface's tests stand in `routing.test.ts`. */
const bases: Record<Form, readonly string[]> = {
  json: ["/api/v1/json", "/index.php/api/v1/json", "/api_new/v1/json"],
  xml: ["/api/v1/xml", "/api/v1"],
};

/** The code and the message of an error, read as old clients do; checks that it is of this form. */
const readError = (form: Form, { headers, body }: Answer): { code: string; message: string } => {
  if (form === "json") {
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    return (JSON.parse(body) as { error: { code: string; message: string } }).error;
  }
  expect([headers.get("content-type"), body]).toEqual([
    "text/xml; charset=utf-8",
    expect.stringMatching(/^<oml:error /),
  ]);
  const { "oml:error": read } = new XMLParser({ parseTagValue: false }).parse(body) as {
    "oml:error": Record<string, string>;
  };
  return { code: read["oml:code"] ?? "", message: read["oml:message"] ?? "" };
};

/** Checks an answer: its status, its code, what its message says, and that it says when to ask again where that is of use. */
const expectError = (form: Form, answer: Answer, status: number, code: string, says: string): void => {
  const error = readError(form, answer);
  expect([answer.status, error.code]).toEqual([status, code]);
  expect(error.message).toBe(code === "107" ? `Database connection error. ${says}` : says);
  expect(error.message).not.toContain("No results");
  expect(answer.headers.has("retry-after")).toBe(code === "107");
};

const post = (path: string, body = "data_id=1&tag=a", ...headers: string[]): string =>
  `${request(`POST ${path}`, "Content-Type: application/x-www-form-urlencoded", `Content-Length: ${body.length}`, ...headers)}${body}`;

const unreachable = "The upstream could not be reached.";
const broken = "The upstream gave no sound answer.";
const late = "The upstream took too long.";
const looped = "The request has been through this gateway before.";

/** A request below a path of legacy's interface. */
type Send = (base: string) => string;
const reading: Send = (base) => get(`${base}/data/61`);
const readingByPost: Send = (base) => post(`${base}/data/qualities/61`);
const writing: Send = (base) => post(`${base}/data/tag`);
const resetting: Send = (base) => get(`${base}/run/reset/1`);
const deleting: Send = (base) => request(`DELETE ${base}/data/61`);

const open = (feature: FeatureModule["open"]): GatewayParts => ({ features: [{ ...(feature && { open: feature }) }] });
const throwing = open(() => ({
  middleware: () => {
    throw new TypeError("planted");
  },
}));

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
  ["a deletion of which nothing was sent", beAway, deleting, 502, "107", unreachable],
  ["a read that is broken off", breakOff, reading, 502, "107", broken],
  ["a read by POST that is broken off", breakOff, readingByPost, 502, "107", broken],
  ["a write that is broken off", breakOff, writing, 502, "9502", broken],
  ["a GET that writes and is broken off", breakOff, resetting, 502, "9502", broken],
  ["a deletion that is broken off", breakOff, deleting, 502, "9502", broken],
  ["a read without an answer", beSilent, reading, 504, "107", late, soon],
  ["a write without an answer", beSilent, writing, 504, "9504", late, soon],
  ["a cached read, legacy away", beAway, reading, 502, "107", unreachable, { CACHE_LEGACY: "all" }],
  ["a cached read without an answer", beSilent, reading, 504, "107", late, { ...soon, CACHE_LEGACY: "all" }],
  ["a WebSocket", beAway, (base) => get(`${base}/x`, "Upgrade: websocket"), 501, "9501", "WebSocket is not supported."],
  ["a fault, reading", beAway, reading, 500, "107", "Internal Server Error", {}, throwing],
  ["a fault, writing", beAway, writing, 500, "9500", "Internal Server Error", {}, throwing],
];

describe.each(forms)("an error of the gateway's own below LEGACY_PATH, as %s", (form) => {
  const [base = ""] = bases[form];

  test.each(cases)("%s", async (_, legacy, send, status, code, says, environment, parts) => {
    const { port } = await listeningGateway(await legacy(), environment, parts);
    expectError(form, await exchange(port, send(base)), status, code, says);
  });

  test.each(bases[form])("at each of the interface's paths: %s", async (path) => {
    const { port } = await listeningGateway(await beAway());
    expectError(form, await exchange(port, reading(path)), 502, "107", unreachable);
  });

  test.each(["/", "/v1,/", "/api/v2,/"])("with PREFIXES %s", async (PREFIXES) => {
    const { port } = await listeningGateway(await breakOff(), { PREFIXES });
    const problem = "Accept: application/problem+json";
    expectError(form, await exchange(port, get(`${base}/data/61`, problem)), 502, "107", broken);
    expectError(form, await exchange(port, writing(base)), 502, "9502", broken);
  });

  test("LEGACY_PATH is /", async () => {
    const { port } = await listeningGateway(await breakOff(), { LEGACY_PATH: "/" });
    const below = form === "json" ? "/json" : "/xml";
    expectError(form, await exchange(port, reading(below)), 502, "107", broken);
    expectError(form, await exchange(port, writing(below)), 502, "9502", broken);
    expect((await exchange(port, get("/v1/unknown"))).body).toBe('{"detail":"Not Found"}');
  });

  test("a loop", async () => {
    const { origin, requests } = await startLegacy((socket) => socket.destroy());
    const { port } = await listeningGateway(origin);
    await exchange(port, reading(base));
    const via = /^via: (.*)\r$/im.exec(requests[0] ?? "")?.[1];
    expectError(form, await exchange(port, get(`${base}/data/61`, `Via: ${via}`)), 502, "9502", looped);
  });

  test("a body that stops coming", async () => {
    const { port } = await listeningGateway(await beAway(), { BODY_TIMEOUT_MS: "100" });
    const answer = await exchange(port, `${request(`POST ${base}/data/tag`, "Content-Length: 10")}half`);
    expectError(form, answer, 408, "9408", "The request's body stopped coming.");
  });

  test.each([
    ["a read", reading],
    ["a write", writing],
  ])("%s for which there is no room", async (_, send) => {
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

  test.each([
    ["a read", reading],
    ["a write", writing],
  ])("%s beyond its rate", async (_, send) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { port } = await listeningGateway(await beAway(), { RATE_LIMIT: "1" });
    for (let i = 0; i < 10; i++) await exchange(port, get("/v1/unknown"));
    expectError(form, await exchange(port, send(base)), 429, "107", "Too many requests: see Retry-After.");
  });

  test("HEAD gets the status alone", async () => {
    const { port } = await listeningGateway(await beAway());
    expect(await exchange(port, request(`HEAD ${base}/data/61`))).toMatchObject({ status: 502, body: "" });
  });
});

describe("while legacy fails", () => {
  test.each(forms)("a read without a stored answer is 503 with code 107, unasked: %s", async (form) => {
    // One request a second is sent all the same: the clock stands still behind it.
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { origin, requests } = await rawUpstream((socket) => socket.destroy());
    const { port, core } = await listeningGateway(origin, { CACHE_LEGACY: "all" });
    const [base = ""] = bases[form];
    for (let id = 1; id <= 3; id++) await exchange(port, get(`${base}/data/${id}`));
    await until(() => core.outage.isOn());
    expectError(form, await exchange(port, get(`${base}/data/4`)), 502, "107", broken);
    const before = requests.filter((text) => text.includes("/data/")).length;
    const answers = [await exchange(port, reading(base)), await exchange(port, get(`${base}/data/62`))];
    for (const answer of answers) expectError(form, answer, 503, "107", "The legacy interface is failing.");
    expect(requests.filter((text) => text.includes("/data/"))).toHaveLength(before);
  });
});

describe("outside of LEGACY_PATH", () => {
  test("errors stay as they were", async () => {
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

const hoursFromNow = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

const files = [
  "/data/download/1/a.arff",
  "/data/v1/download/1/a.arff",
  "/data/get_csv/1/a.arff",
  "/data/v1/get_csv/1",
  "/api_splits/get/1/Task_1_splits.arff",
  "//data//download//1",
  "/index.php/data/download/1",
];

describe.each(files)("a data file that fails has no body: %s", (path) => {
  const expectEmpty = (answer: Answer, expected: number): void =>
    expect([answer.status, answer.headers.get("content-length"), answer.body]).toEqual([expected, "0", ""]);

  test.each<[string, () => Promise<string>, number, Record<string, string>?, GatewayParts?]>([
    ["legacy is away", beAway, 502],
    ["legacy breaks off", breakOff, 502],
    ["legacy is silent", beSilent, 504, soon],
    ["the prefix is /", beAway, 502, { PREFIXES: "/" }],
    ["a fault", beAway, 500, {}, throwing],
    [
      "a brown-out",
      beAway,
      503,
      { BROWNOUTS: JSON.stringify([{ path: "/", from: hoursFromNow(-1), until: hoursFromNow(1), status: 503 }]) },
    ],
  ])("%s", async (_, legacy, status, environment, parts) => {
    const { port } = await listeningGateway(await legacy(), environment, parts);
    expectEmpty(await exchange(port, get(path)), status);
  });

  test("beyond its rate", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const { port } = await listeningGateway(await beAway(), { RATE_LIMIT: "1" });
    for (let i = 0; i < 10; i++) await exchange(port, get("/v1/unknown"));
    expectEmpty(await exchange(port, get(path)), 429);
  });
});

test("an upload to a data file's path, and what only looks like one, are no data files", async () => {
  const { port } = await listeningGateway(await beAway());
  for (const text of [post("/data/download/1"), get("/data/downloads/1"), get("/x?/data/download/1")])
    expect((await exchange(port, text)).body).toBe(`{"detail":"${unreachable}"}`);
});
