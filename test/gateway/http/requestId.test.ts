import { connect } from "node:net";
import { expect, test } from "vitest";
import { traceContextOf } from "../../../src/operation/telemetry/exchange.ts";
import { get, request, send } from "../proxy/support.ts";
import { listeningGateway, recordingUpstream, type Seen } from "./support.ts";

const idOf = (head: string): string[] =>
  [...head.matchAll(/^x-request-id: (.*?)\r?$/gim)].map(([, id]) => id as string);
const made = /^[0-9A-Za-z]{12}-[0-9a-z]+$/;
const ours = "/v1/evaluationmeasures/list";
const theirs = "/api/v1/json/anything";

const opened = async (environment: Record<string, string> = {}) => {
  const upstream = await recordingUpstream((seen) =>
    seen.target.includes("own-id") ? { body: "{}", headers: { "X-Request-Id": "legacy" } } : undefined,
  );
  return { ...(await listeningGateway(upstream.url, environment)), seen: upstream.seen };
};
const lastOf = (seen: readonly Seen[]) => seen.at(-1)?.headers ?? {};

test.each([
  { what: "a miss", lines: [get(ours)], status: 200 },
  { what: "a request that is passed through", lines: [get(theirs)], status: 200 },
  { what: "another method", lines: [request("DELETE /v1/datasets/61")], status: 405 },
  { what: "an input that does not fit", lines: [get("/v1/datasets/none")], status: 422 },
  { what: "a request without a Host", lines: ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n"], status: 400 },
  { what: "headers that are too long", lines: [get("/", `X-Long: ${"x".repeat(20_000)}`)], status: 431 },
  { what: "an unknown expectation", lines: [get(ours, "Expect: a lot")], status: 417 },
])("the answer to $what has one X-Request-Id, made for it", async ({ lines, status }) => {
  const { port } = await opened();
  const { head } = await send(port, ...lines);
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(idOf(head)).toEqual([expect.stringMatching(made)]);
});

test("a hit has an X-Request-Id of its own, and so has the refusal of a connection", async () => {
  const { port } = await opened({ MAX_CLIENT_CONNECTIONS: "1" });
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push(...idOf((await send(port, get(ours))).head));
  expect(ids).toHaveLength(3);
  expect(new Set(ids).size).toBe(3);
  const held = connect(port, "127.0.0.1");
  await new Promise((resolve) => void held.once("connect", resolve));
  const { head } = await send(port, get(ours));
  held.destroy();
  expect(head).toMatch(/^HTTP\/1\.1 503 /);
  expect(idOf(head)).toEqual([expect.stringMatching(made)]);
});

test.each([ours, theirs])("%s: legacy gets the id that is answered, and a client's is not taken", async (path) => {
  const { port, seen } = await opened();
  const { head } = await send(port, get(path, "X-Request-Id: mine", "X_Request_Id: mine"));
  expect(idOf(head)).toEqual([expect.stringMatching(made)]);
  expect(lastOf(seen)["x-request-id"]).toBe(idOf(head)[0]);
  expect(lastOf(seen)).not.toHaveProperty("x_request_id");
});

test.each([
  ["abc.DEF_1-2", true],
  ["x".repeat(128), true],
  ["x".repeat(129), false],
  ["a b", false],
  ["a, b", false],
  ["", false],
])("of a trusted proxy, the id %j is taken: %s", async (given, isTaken) => {
  const { port, seen } = await opened({ TRUSTED_PROXIES: "127.0.0.1" });
  for (const path of [ours, theirs]) {
    const [id] = idOf((await send(port, get(path, `X-Request-Id: ${given}`))).head);
    expect([given, made.test(id ?? "")]).toEqual([isTaken ? id : given, !isTaken]);
    expect(lastOf(seen)["x-request-id"]).toBe(id);
  }
});

test("an X-Request-Id from legacy is replaced by the id of the request", async () => {
  const { port, seen } = await opened();
  const { head } = await send(port, get(`${theirs}/own-id`));
  expect(idOf(head)).toEqual([lastOf(seen)["x-request-id"]]);
});

test("pages may read X-Request-Id where the gateway answers CORS itself", async () => {
  const { url } = await opened();
  for (const path of [ours, "/v1/nothing"]) {
    const { headers } = await fetch(url + path, { headers: { Origin: "https://page.example" } });
    expect(headers.get("access-control-expose-headers")).toMatch(/\bX-Request-Id\b/);
  }
});

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

test.each([ours, theirs])("%s: a trace context travels to legacy as it is", async (path) => {
  const { port, seen } = await opened();
  await send(port, get(path, `traceparent: ${traceparent}`, "tracestate: congo=t61rcWkgMzE,rojo=00f067"));
  expect(lastOf(seen)).toMatchObject({ traceparent, tracestate: "congo=t61rcWkgMzE,rojo=00f067" });
});

test("on the new interface an invalid trace context does not travel", async () => {
  const { port, seen } = await opened();
  await send(port, get(ours, "traceparent: 00-zz-b7ad6b7169203331-01", "tracestate: a=1"));
  expect(lastOf(seen)).not.toHaveProperty("traceparent");
  expect(lastOf(seen)).not.toHaveProperty("tracestate");
});

test.each([
  [traceparent, true],
  [`${traceparent.replace(/^00/, "01")}-more`, true],
  [`${traceparent}-more`, false],
  [traceparent.replace(/^00/, "ff"), false],
  [`00-${"0".repeat(32)}-b7ad6b7169203331-01`, false],
  [`${traceparent}, ${traceparent}`, false],
  ["", false],
])("the traceparent %j is valid: %s", (given, isValid) => {
  expect(traceContextOf({ traceparent: given })).toEqual(isValid ? { traceparent: given } : undefined);
});

test("a tracestate that is not valid, or too long, is left out alone", () => {
  for (const tracestate of ["A=1", "a", "a=1,b", "a=é", `a=${"x".repeat(2000)}`, Array(33).fill("a=1").join(",")])
    expect(traceContextOf({ traceparent, tracestate })).toEqual({ traceparent });
  for (const tracestate of ["a=1", "a=1, b@c=2", "a=1,,b=2", "0a/b*c-d_e=x y~!"])
    expect(traceContextOf({ traceparent, tracestate })).toEqual({ traceparent, tracestate });
});
