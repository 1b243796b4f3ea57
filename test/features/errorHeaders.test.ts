import { describe, expect, onTestFinished, test, vi } from "vitest";
import { exchange } from "../gateway/answer/support.ts";
import { beAway } from "../gateway/http/ownErrorsSupport.ts";
import { listeningGateway } from "../gateway/http/support.ts";
import { get, request } from "../gateway/proxy/support.ts";
import type { GatewayParts } from "../support/gateway.ts";

const page = "https://page.example";
const problem = "application/problem+json";
const hoursFromNow = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
const BROWNOUTS = JSON.stringify([{ path: "/", from: hoursFromNow(-1), until: hoursFromNow(1), status: 503 }]);

const planted = (): never => {
  throw new TypeError("planted");
};
const noLayer: GatewayParts = { adding: () => ({ layers: [() => async () => planted()] }) };
const noHeaders: GatewayParts = { adding: () => ({ legacyHeaders: [planted] }) };

const upgrade = "Upgrade: websocket";
const wanted = [`Origin: ${page}`, `Accept: ${problem}`];
const asked = (path: string, ...headers: string[]) => get(path, ...wanted, ...headers);

type Row = [
  what: string,
  status: number,
  sent: string,
  environment?: Record<string, string>,
  parts?: GatewayParts,
  tokens?: number,
];
const old = "/api/v1/json/data/61";
const list = "/v1/evaluationmeasures/list";
const RATE_LIMIT = "1";
const DOCUMENTS = "true";
const small = { MEMORY_BYTES: "1048576", MAX_REPLY_BYTES: "1048576" };

/** Errors of the gateway's own to requests of the new interface, by each place that makes one. */
const ours: Row[] = [
  ["an unknown path", 404, asked("/v1/unknown")],
  ["a method that a path does not have", 405, request("DELETE /v1/datasets/61", ...wanted)],
  ["a document's method", 405, request("POST /v1/openapi.json", "Content-Length: 0", ...wanted), { DOCUMENTS }],
  ["what is not supported", 501, asked(list, upgrade)],
  ["a fault behind the router", 500, asked(list), {}, noLayer],
  ["an answer without room", 503, asked("/v1/docs/swagger-ui-bundle.js"), { DOCUMENTS, ...small }],
  ["a rate limit", 429, asked(list), { RATE_LIMIT }, {}, 10],
  ["a rate limit, the prefix is /", 429, asked("/evaluationmeasures/list"), { RATE_LIMIT, PREFIXES: "/" }, {}, 10],
];

/** The same to requests of legacy's server. */
const legacys: Row[] = [
  ["an old read, legacy away", 502, asked(old)],
  ["a page, legacy away", 502, asked("/d/61")],
  ["a page, legacy away, the prefix is /", 502, asked("/d/61"), { PREFIXES: "/" }],
  ["a data file, legacy away", 502, asked("/data/download/1/a.arff")],
  ["what is not supported of an old read", 501, asked(old, upgrade)],
  ["what is not supported of a page", 501, asked("/d/61", upgrade)],
  ["a fault at an old read", 500, asked(old), {}, noHeaders],
  ["a fault at a page", 500, asked("/d/61"), {}, noHeaders],
  ["a fault at a page, the prefix is /", 500, asked("/d/61"), { PREFIXES: "/" }, noHeaders],
  ["a rate limit of old reads", 429, asked(old), { RATE_LIMIT }, {}, 10],
  ["a rate limit of old reads, the prefix is /", 429, asked(old), { RATE_LIMIT, PREFIXES: "/" }, {}, 10],
  ["a rate limit of pages", 429, asked("/d/61"), { RATE_LIMIT }, {}, 10],
  ["a brown-out of an old read", 503, asked(old), { BROWNOUTS }],
  ["a brown-out of a page", 503, asked("/d/61"), { BROWNOUTS }],
];

const answered = async ([, , sent, environment = {}, given = {}, tokens = 0]: Row) => {
  if (tokens > 0) {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
  }
  const { port } = await listeningGateway(await beAway(), { CORS_ORIGINS: page, ...environment }, given);
  for (let i = 0; i < tokens; i++) await exchange(port, get("/v1/unknown"));
  const { status, headers, head } = await exchange(port, sent);
  const named = (name: string) =>
    [...head.matchAll(new RegExp(`^${name}: (.*)`, "gim"))].flatMap(([, value = ""]) => value.trim().split(", "));
  return {
    status,
    stored: headers.get("cache-control"),
    shownTo: headers.get("access-control-allow-origin"),
    exposed: named("access-control-expose-headers").includes("X-Request-Id"),
    vary: named("vary").toSorted(),
    isProblem: headers.get("content-type") === problem,
  };
};

describe("every error that the gateway makes", () => {
  test.each(ours)("is a problem of the new interface, for its pages: %s", async (...row) => {
    expect(await answered(row)).toEqual({
      status: row[1],
      stored: "no-store",
      shownTo: page,
      exposed: true,
      vary: ["Accept", "Origin"],
      isProblem: true,
    });
  });

  test.each(legacys)("is shown to every page, as legacy's answers are: %s", async (...row) => {
    expect(await answered(row)).toEqual({
      status: row[1],
      stored: "no-store",
      shownTo: "*",
      exposed: true,
      vary: [],
      isProblem: false,
    });
  });
});
