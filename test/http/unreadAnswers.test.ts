import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openConnection } from "../serve/support.ts";
import { get, httpUpstream } from "../proxy/support.ts";
import { listeningGateway } from "./support.ts";
import { LARGE, large, open, staying, streaming, unreader } from "./unreaders.ts";
import { until } from "../support/waiting.ts";

/** The time limit of these tests, in ms. The server looks at its clients 20 times in it, when the test says so. */
const LIMIT = 200;
beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());
const pass = (limits: number) => vi.advanceTimersByTime(limits * LIMIT);

/** Lets time pass until a condition holds, however long the answer takes to come to where it waits for its client. */
const untilCut = (holds: () => boolean | Promise<boolean>) =>
  until(() => {
    pass(PATIENCE);
    return holds();
  });
/** Time limits in which a client without any progress loses its connection, though little waits in all. */
const PATIENCE = 16;

describe("a client that takes nothing, while much waits in all,", () => {
  test("is cut off after the time limit, and its bytes are given back", async () => {
    const { port, unsent, connections } = await open({ sendTimeout: LIMIT, maxSendBytes: LARGE });
    unreader(port, staying("/large"));
    await until(() => unsent.total >= LARGE);
    pass(1);
    expect([unsent.timedOut, unsent.total]).toEqual([1, 0]);
    await until(() => connections().open === 0);
  });

  test("is, although it goes on sending requests", async () => {
    const { port, unsent, connections } = await open({ sendTimeout: LIMIT, maxSendBytes: LARGE });
    const socket = unreader(port, staying("/large"));
    await until(() => unsent.total >= LARGE);
    pass(0.5);
    for (let i = 0; i < 5; i++) socket.write(staying("/"));
    await until(() => socket.bytesWritten === staying("/large").length + 5 * staying("/").length);
    pass(1);
    expect([unsent.timedOut, unsent.total]).toEqual([1, 0]);
    await until(() => connections().open === 0);
  });

  test("is where the answer is a stream that waits for it", async () => {
    const { port, unsent, connections } = await open({ sendTimeout: LIMIT, maxSendBytes: 64 * 1024 }, streaming);
    unreader(port, staying("/"));
    await until(() => {
      pass(1);
      return unsent.timedOut === 1 && connections().open === 0;
    });
    expect(unsent.total).toBe(0);
  });

  test.each([
    ["the new interface", "/v1/datasets/1"],
    ["the pass-through", "/api/v1/json/data/1"],
  ])("is on %s", async (_, path) => {
    const url = await httpUpstream((_request, response) =>
      response.end(JSON.stringify({ data_set_description: { id: "1", description: "x".repeat(LARGE) } })),
    );
    const gateway = await listeningGateway(url, { SEND_TIMEOUT_MS: String(LIMIT) });
    unreader(gateway.port, staying(path));
    const expected = ["slow_clients_total 1", "client_connections 0", "unsent_bytes 0"];
    await untilCut(async () => {
      const metrics = await gateway.services.meter.registry.metrics();
      return expected.every((line) => metrics.includes(`\ncatalog_gateway_${line}\n`));
    });
  });
});

describe("a client that takes nothing for a while", () => {
  test("is cut off where much waits in all, those first that hold most", async () => {
    const { port, unsent, connections } = await open(
      { sendTimeout: LIMIT, maxSendBytes: 2 * LARGE },
      (request, response) => (request.url === "/large" ? response.end(large) : streaming(request, response)),
    );
    unreader(port, staying("/large"));
    await until(() => unsent.total >= LARGE);
    unreader(port, staying("/stream"));
    await until(() => unsent.total > LARGE);
    pass(1);
    await until(() => connections().open === 1);
    expect([unsent.timedOut, unsent.total < LARGE]).toEqual([1, true]);
    pass(3);
    expect(unsent.timedOut).toBe(1);
    // 15 times the limit without any progress.
    await until(() => {
      pass(1);
      return connections().open === 0;
    });
    expect([unsent.timedOut, unsent.total]).toEqual([2, 0]);
  });

  test("gets all of a proxied answer, for as long as it takes some within 15 time limits", async () => {
    const url = await httpUpstream((_, response) => response.end(large));
    const settings = { SEND_TIMEOUT_MS: String(LIMIT), BODY_TIMEOUT_MS: "2000" };
    const gateway = await listeningGateway(url, settings);
    // The upstream is kept waiting for longer than it may be silent.
    expect(await takeSlowly(gateway.port, get("/files/1"), { bytes: LARGE / 2, limits: 14, ms: 3000 })).toBeGreaterThan(
      LARGE,
    );
  });
});

/** Takes an answer in parts of so many bytes; between two of them so many time limits pass, and real milliseconds. Gives all bytes. */
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
  const { port, unsent } = await open({ sendTimeout: LIMIT });
  const part = { bytes: 1024 * 1024, limits: 0.1, ms: 1 };
  expect(await takeSlowly(port, get("/large"), part)).toBeGreaterThan(LARGE);
  expect([unsent.timedOut, unsent.total]).toEqual([0, 0]);
});

test("answers that were taken leave nothing behind on their connection", async () => {
  const { port, server, unsent } = await open();
  const { socket, text } = openConnection(port);
  let sockets = 0;
  server.on("request", ({ socket: one }) => (sockets = one.listenerCount("close") + one.listenerCount("drain")));
  const counts: number[] = [];
  for (let i = 1; i <= 3; i++) {
    socket.write(staying("/large"));
    await until(() => text().length > i * LARGE);
    await until(() => unsent.total === 0);
    counts.push(sockets);
  }
  expect(new Set(counts).size).toBe(1);
});
