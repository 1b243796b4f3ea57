import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openByteBudget } from "../../../src/operation/limits/byteBudget.ts";
import { sendWhole } from "../../../src/gateway/http/httpServer.ts";
import { openConnection } from "../answer/support.ts";
import { get, httpUpstream, send } from "../proxy/support.ts";
import { listeningGateway } from "./support.ts";
import { LARGE, large, open, staying, streaming, unreader } from "./openServer.ts";
import { settled, until } from "../../support/waiting.ts";
import { pageOfMetrics, valueOf } from "../../support/metrics.ts";

/** The time limit of these tests, in ms. The server looks at its clients once in it, when the test says so. */
const LIMIT = 200;
beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());
const pass = (limits: number) => vi.advanceTimersByTime(limits * LIMIT);

/** Lets time pass until a condition holds, however long the answer takes to come to where it waits for its client. */
const untilCut = (holds: () => boolean | Promise<boolean>) =>
  until(() => {
    pass(1);
    return holds();
  });

describe("a client that takes nothing", () => {
  test("a client that takes nothing is cut off in time, and its bytes are given back", async () => {
    const memory = openByteBudget(2 * LARGE);
    const { port, watched } = await open({ sendTimeout: LIMIT, memory }, (_, response) => {
      sendWhole(response, { status: 200, headers: [], body: large });
    });
    unreader(port, staying("/"));
    await until(() => memory.held > 0);
    expect(memory.held).toBeGreaterThan(LARGE - 2 ** 17);
    await untilCut(() => memory.held === 0);
    expect(watched.resets).toBe(1);
  });

  test("a client that takes nothing is cut off although it goes on sending requests", async () => {
    const { port, watched } = await open({ sendTimeout: LIMIT });
    const socket = unreader(port, staying("/large"));
    await untilCut(() => {
      socket.write(staying("/"));
      return watched.resets > 0;
    });
    expect(watched.resets).toBe(1);
  });

  test("a client that takes nothing of a stream is cut off", async () => {
    const { port, watched, connections } = await open({ sendTimeout: LIMIT }, streaming);
    unreader(port, staying("/"));
    await untilCut(() => watched.resets > 0 && connections().open === 0);
    expect(watched.resets).toBe(1);
  });

  test.each([
    ["the new interface", "/v1/datasets/1"],
    ["the pass-through", "/api/v1/json/data/1"],
  ])("a client that takes nothing is cut off on %s", async (_, path) => {
    const url = await httpUpstream((_request, response) =>
      response.end(JSON.stringify({ data_set_description: { id: "1", description: "x".repeat(LARGE) } })),
    );
    const gateway = await listeningGateway(url, {}, { sendTimeout: LIMIT });
    unreader(gateway.port, staying(path));
    const expected = ["slow_clients_total 1", "client_connections 0", "memory_bytes 0"];
    await untilCut(async () => {
      const metrics = await pageOfMetrics(gateway.core.meter);
      return expected.every((line) => metrics.includes(`\ncatalog_gateway_${line}\n`));
    });
  });
});

/** More looks than in the time in which any answer has to begin. */
const NEVER = 300_000 / LIMIT;

describe("a request that a step has forgotten to answer", () => {
  const openForgetful = async () => {
    const forgotten = vi.fn<() => void>();
    const url = await httpUpstream((_, response) => response.end("legacy"));
    const adding = () => ({ steps: () => ({ hitPath: [forgotten], router: [], passThrough: [] }) });
    return { ...(await listeningGateway(url, {}, { sendTimeout: LIMIT, adding })), forgotten };
  };

  test("a forgotten request gets a 500 and a closed connection, and is counted", async () => {
    const { port, observer, forgotten } = await openForgetful();
    const answer = send(port, staying("/"));
    await until(() => forgotten.mock.calls.length === 1);
    pass(NEVER);
    expect((await answer).text).toMatch(/^HTTP\/1\.1 500 [^]*{"detail":"Internal Server Error"}$/);
    expect(observer.counts()["internal_error"]).toBe(1);
  });

  test("a forgotten request is not closed while its body still comes", async () => {
    const { port, observer, forgotten } = await openForgetful();
    const head = staying("/").replace("GET", "POST").replace("\r\n", "\r\nContent-Length: 1000\r\n");
    const socket = unreader(port, head);
    await until(() => forgotten.mock.calls.length === 1);
    for (let i = 0; i < 5; i++) {
      socket.write("a");
      await settled();
      pass(100_000 / LIMIT);
    }
    expect([socket.closed, observer.counts()["internal_error"]]).toEqual([false, undefined]);
  });
});

test("an old read that passes after legacy was slow twice is answered", async () => {
  const begun: (() => void)[] = [];
  const url = await httpUpstream(({ headers }, response) => {
    const isCollected = headers["user-agent"] === "catalog-gateway";
    begun.push(() => response.writeHead(isCollected ? 302 : 200, { Location: "/elsewhere" }).end("legacy"));
  });
  const environment = { CACHE_LEGACY: "all", HEADERS_TIMEOUT_MS: "600000" };
  const { port, observer } = await listeningGateway(url, environment, { sendTimeout: LIMIT });
  const answer = send(port, get("/api/v1/json/data/61"));
  for (const request of [1, 2]) {
    await until(() => begun.length === request);
    pass(590_000 / LIMIT);
    begun.at(-1)?.();
  }
  expect((await answer).text).toMatch(/^HTTP\/1\.1 200 [^]*legacy/);
  expect(observer.counts()["internal_error"]).toBeUndefined();
});

/** More than the system takes for a client that has read nothing yet. */
const UNREAD = LARGE / 2;

/**
 * A gateway with so much memory, in front of a legacy whose datasets have UNREAD bytes; `held` gives the
 * bytes that are taken of it.
 */
const largeDatasets = async (memory: number) => {
  const url = await httpUpstream((request, response) =>
    request.url?.includes("/data/") === true
      ? response.end(
          JSON.stringify({
            data_set_description: {
              id: /\d+$/.exec(request.url)?.[0],
              name: "a",
              format: "arff",
              description: "x".repeat(UNREAD),
            },
          }),
        )
      : response.end('{"evaluation_measures":{"measures":{"measure":"kappa"}}}'),
  );
  const environment = {
    MEMORY_BYTES: String(memory),
    MAX_REPLY_BYTES: String(1.5 * UNREAD),
    CACHE_BYTES: String(2 ** 29),
  };
  const gateway = await listeningGateway(url, environment, { sendTimeout: LIMIT });
  const ask = async (path: string) => {
    const response = await fetch(gateway.url + path, { headers: { Connection: "close" } });
    return { status: response.status, retryAfter: response.headers.get("retry-after"), text: await response.text() };
  };
  const held = () => valueOf(gateway.core.meter, "memory_bytes");
  return { port: gateway.port, ask, held };
};

test.each([
  ["the memory", 1.5],
  ["half of the memory", 3.5],
])("while an unread answer fills %s, another large one is 503, a small one is sent", async (_, memory) => {
  const { port, ask, held } = await largeDatasets(memory * UNREAD);
  for (const id of [1, 2]) expect((await ask(`/v1/datasets/${id}`)).status).toBe(200);
  const { text } = await ask("/v1/datasets/1");
  unreader(port, staying("/v1/datasets/1"));
  await until(async () => (await held()) === text.length - 64 * 1024);
  const refused = (why: string) => ({ status: 503, retryAfter: "5", text: expect.stringContaining(why) as string });
  expect(await ask("/v1/datasets/2")).toEqual(refused("other answers are in memory"));
  // Before it is collected.
  expect(await ask("/v1/datasets/3")).toEqual(refused("answers of the legacy interface"));
  expect((await ask("/v1/evaluationmeasures/list")).status).toBe(200);
  await untilCut(async () => (await held()) === 0);
  expect((await ask("/v1/datasets/2")).status).toBe(200);
});

test("an answer counts once, however many clients have not read it", async () => {
  const { port, ask, held } = await largeDatasets(1.5 * UNREAD);
  const { text } = await ask("/v1/datasets/1");
  const clients = [1, 2, 3].map(() => unreader(port, staying("/v1/datasets/1")));
  await until(async () => (await held()) > 0);
  expect((await ask("/v1/datasets/1")).status).toBe(200);
  clients.pop()?.destroy();
  expect((await ask("/v1/datasets/1")).status).toBe(200);
  expect(await held()).toBe(text.length - 64 * 1024);
  await untilCut(async () => (await held()) === 0);
});

test("a client that reads a little within each time limit gets a proxied answer whole", async () => {
  const url = await httpUpstream((_, response) => response.end(large));
  const gateway = await listeningGateway(url, { BODY_TIMEOUT_MS: "2000" }, { sendTimeout: LIMIT });
  // The upstream is kept waiting for longer than it may be silent.
  const part = { bytes: LARGE / 2, limits: 0.9, ms: 3000 };
  expect(await takeSlowly(gateway.port, get("/files/1"), part)).toBeGreaterThan(LARGE);
});

/**
 * Takes an answer in parts of so many bytes; between two of them so many time limits pass, and real
 * milliseconds. Gives all bytes.
 */
const takeSlowly = async (port: number, request: string, part: { bytes: number; limits: number; ms: number }) => {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(request);
  let received = 0;
  let burst = 0;
  socket.on("data", (chunk: Buffer) => {
    received += chunk.length;
    burst += chunk.length;
    if (burst < part.bytes) return;
    burst = 0;
    socket.pause();
    pass(part.limits);
    setTimeout(() => socket.resume(), part.ms);
  });
  await new Promise((resolve) => void socket.once("close", resolve));
  return received;
};

test("a slow client that takes its answer bit by bit gets all of it", async () => {
  const { port, watched } = await open({ sendTimeout: LIMIT });
  const part = { bytes: 1024 * 1024, limits: 0.1, ms: 1 };
  expect(await takeSlowly(port, get("/large"), part)).toBeGreaterThan(LARGE);
  expect(watched.resets).toBe(0);
});

test("answers that were read leave nothing behind on their connection", async () => {
  const { port, server } = await open();
  const { socket, text } = openConnection(port);
  let sockets = 0;
  server.on("request", ({ socket: one }) => {
    // Once in its time the server sees that nothing waits any more.
    pass(1);
    sockets = one.listenerCount("close") + one.listenerCount("drain");
  });
  const counts: number[] = [];
  for (let i = 1; i <= 3; i++) {
    socket.write(staying("/large"));
    await until(() => text().length > i * LARGE);
    counts.push(sockets);
  }
  expect(new Set(counts).size).toBe(1);
});
