import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { httpUpstream, rawUpstream, request, send } from "../proxy/support.ts";
import { gatewayFor } from "../support/gateway.ts";
import { listeningGateway, recordingUpstream } from "./support.ts";
import { until } from "../support/waiting.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const measures = '{"evaluation_measures":{"measures":{"measure":"kappa"}}}';
const tag = {
  method: "POST",
  headers: { "Content-Type": "application/json", "X-API-Key": KEY },
  body: '{"setup_id":1,"tag":"a"}',
};

/** The answer to one request; always JSON with a detail. */
const ask = async (
  url: string,
  environment: Record<string, string> = {},
  init: RequestInit = {},
  path = "/v1/evaluationmeasures/list",
) => {
  const gateway = await gatewayFor(url, environment);
  const response = await gateway.app.request(path, init);
  const text = await response.text();
  await gateway.close();
  expect(text).not.toContain(KEY);
  return { status: response.status, headers: response.headers, body: JSON.parse(text) as Record<string, unknown> };
};

describe("a legacy that", () => {
  test("says nothing: 504", async () => {
    const url = await httpUpstream(() => undefined);
    expect((await ask(url, { TOTAL_TIMEOUT_MS: "100" })).status).toBe(504);
  });

  test("drips: 504", async () => {
    const url = await httpUpstream((_, response) => {
      const drip = setInterval(() => response.write(" "), 20);
      response.once("close", () => clearInterval(drip));
    });
    expect((await ask(url, { TOTAL_TIMEOUT_MS: "200" })).status).toBe(504);
  });

  test("says too much: 502", async () => {
    const url = await httpUpstream((_, response) => response.end(`{"a":"${"x".repeat(5000)}"}`));
    expect((await ask(url, { MAX_REPLY_BYTES: "4096" })).status).toBe(502);
  });

  test("breaks off: 502", async () => {
    const { origin } = await rawUpstream((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n${measures}`),
    );
    expect((await ask(origin)).status).toBe(502);
  });

  test("compresses unasked: 502", async () => {
    const url = await httpUpstream((_, response) =>
      response.writeHead(200, { "Content-Encoding": "gzip" }).end(gzipSync(measures)),
    );
    expect((await ask(url)).status).toBe(502);
  });

  test.each([
    [301, "", {}],
    [200, "<html><p>Page Not Found</p></html>", {}],
    [503, "<html>busy</html>", {}],
    [404, measures, {}],
    [200, "\u0000", {}],
  ])("answers %i %j: 502, never what it said", async (status, body) => {
    const { url } = await recordingUpstream(() => ({ status, body }));
    const answer = await ask(url);
    expect(answer.status).toBe(502);
    expect(JSON.stringify(answer.body)).not.toContain("html");
  });

  test("resets the connection before any byte: a GET is sent again, a POST never", async () => {
    const { origin, requests } = await rawUpstream((socket, _, number) =>
      number === 1
        ? socket.destroy()
        : socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${measures.length}\r\n\r\n${measures}`),
    );
    expect((await ask(origin)).status).toBe(200);
    expect(requests).toHaveLength(2);

    const posted = await rawUpstream((socket) => void socket.destroy());
    expect((await ask(posted.origin, {}, tag, "/v1/setup/tag")).status).toBe(502);
    expect(posted.requests.filter((one) => one.startsWith("POST"))).toHaveLength(1);
  });

  test("has no connection left: 503, with a time to come back", async () => {
    let answer = () => {};
    const waiting = new Promise<void>((resolve) => (answer = resolve));
    let arrived = 0;
    const url = await httpUpstream((_, response) => {
      arrived++;
      void waiting.then(() => response.end(measures));
    });
    const gateway = await gatewayFor(url, { MAX_CONNECTIONS: "1" }, { waiting: 1 });
    const one = () => gateway.app.request("/v1/evaluationmeasures/list", { headers: { "Cache-Control": "no-store" } });
    const first = one();
    await until(() => arrived === 1);
    const second = one();
    const third = await one();
    expect([third.status, third.headers.get("retry-after")]).toEqual([503, "5"]);
    answer();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    await gateway.close();
  });
});

test("what does not fit the schema is a 502, counted and without its values in the log", async () => {
  const { url } = await recordingUpstream(() => ({ body: '{"data_set_description":{"id":"secret-id"}}' }));
  const gateway = await gatewayFor(url);
  for (let i = 0; i < 2; i++) expect((await gateway.app.request("/v1/datasets/1")).status).toBe(502);
  expect(gateway.observer.counts()).toEqual({ "schema_mismatch getDataset": 2 });
  await gateway.close();
});

test("a new legacy field is kept, and counted by name", async () => {
  const { url } = await recordingUpstream(() => ({ body: '{"data_set_description":{"id":"1","doi":"10.1/x"}}' }));
  const gateway = await gatewayFor(url);
  expect(await (await gateway.app.request("/v1/datasets/1")).json()).toMatchObject({ id: 1, doi: "10.1/x" });
  expect(gateway.observer.counts()).toEqual({ "unknown_field getDataset doi": 1 });
  await gateway.close();
});

describe("a client that", () => {
  const post = (length: string, ...headers: string[]) =>
    request("POST /v1/datasets/list", "Content-Type: application/json", length, ...headers);
  const open = async () => {
    const { url, seen } = await recordingUpstream(() => ({ body: '{"data":{"dataset":[]}}' }));
    return { ...(await listeningGateway(url, { MAX_BODY_BYTES: "1024" })), seen };
  };
  const expectHealthy = async (port: number) =>
    expect((await send(port, post("Content-Length: 2"), "{}")).head).toMatch(/^HTTP\/1\.1 200 /);

  test("sends too much gets 413, by its length or by count", async () => {
    const { port, seen } = await open();
    const big = JSON.stringify({ tag: "x".repeat(5000) });
    expect((await send(port, post(`Content-Length: ${big.length}`), big)).head).toMatch(
      /^HTTP\/1\.1 413 [^]*application\/json/,
    );
    expect(
      (await send(port, post("Transfer-Encoding: chunked"), `${big.length.toString(16)}\r\n${big}\r\n0\r\n\r\n`)).head,
    ).toMatch(/^HTTP\/1\.1 413 /);
    expect(seen).toHaveLength(0);
    await expectHealthy(port);
  });

  test("sends another media type gets 415", async () => {
    const { port } = await open();
    const { head, body } = await send(
      port,
      request("POST /v1/datasets/list", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 7"),
      "limit=1",
    );
    expect(head).toMatch(/^HTTP\/1\.1 415 /);
    expect(JSON.parse(body)).toHaveProperty("detail");
  });

  test("sends no JSON, or no UTF-8, gets 422", async () => {
    const { port } = await open();
    for (const body of [Buffer.from("{"), Buffer.from([0x22, 0xff, 0x22])])
      expect((await send(port, post(`Content-Length: ${body.length}`), body)).body).toContain("value_error.jsondecode");
  });

  test("leaves in the middle of its body does no harm", async () => {
    const { port } = await open();
    for (let i = 0; i < 20; i++) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => undefined).write(`${post("Content-Length: 100")}{"lim`, () => socket.resetAndDestroy());
    }
    await expectHealthy(port);
  });

  test("sends an empty body asks without filters", async () => {
    const { port, seen } = await open();
    expect((await send(port, request("POST /v1/datasets/list", "Content-Length: 0"))).head).toMatch(/^HTTP\/1\.1 200 /);
    expect(seen[0]?.target).toBe("/api/v1/json/data/list/status/active/limit/100/offset/0");
  });
});

test("a request that has been here before is a loop: 502, and legacy is not asked", async () => {
  const { url, seen } = await recordingUpstream();
  const { port } = await listeningGateway(url);
  await send(port, request("GET /v1/evaluationmeasures/list"));
  const via = String(seen[0]?.headers["via"]);
  expect((await send(port, request("GET /v1/evaluationmeasures/list", `Via: 1.1 other, ${via}`))).head).toMatch(
    /^HTTP\/1\.1 502 /,
  );
  expect(seen).toHaveLength(1);
});
