import { connect } from "node:net";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { startAdminServer } from "../../src/features/console/adminServer.ts";
import { consoleListener } from "../../src/features/console/consoleListener.ts";
import { openConnection } from "../serve/support.ts";
import { get, httpUpstream } from "../proxy/support.ts";
import { roomyLimits } from "./limits.ts";
import { listeningGateway } from "./support.ts";
import { LARGE, large, open, staying, streaming, unreader } from "./unreaders.ts";
import { sleep, until } from "../support/waiting.ts";

describe("a client that takes nothing, while much waits in all,", () => {
  test("is cut off after the time limit, and its bytes are given back", async () => {
    const { port, unsent, connections } = await open({ sendTimeout: 200, maxSendBytes: LARGE });
    unreader(port, staying("/large"));
    await until(() => unsent.total === LARGE || unsent.total > LARGE);
    await until(() => unsent.total === 0 && connections().open === 0);
    expect(unsent.timedOut).toBe(1);
  });

  test("is, although it goes on sending requests", async () => {
    const { port, unsent, connections } = await open({ sendTimeout: 200, maxSendBytes: LARGE });
    const socket = unreader(port, staying("/large"));
    const sending = setInterval(() => socket.write(staying("/")), 20);
    onTestFinished(() => clearInterval(sending));
    await until(() => unsent.timedOut === 1 && connections().open === 0);
    expect(unsent.total).toBe(0);
  });

  test("is where the answer is a stream that waits for it", async () => {
    const { port, unsent, connections } = await open({ sendTimeout: 200, maxSendBytes: 64 * 1024 }, streaming);
    unreader(port, staying("/"));
    await until(() => unsent.timedOut === 1 && connections().open === 0);
    expect(unsent.total).toBe(0);
  });

  test.each([
    ["the new interface", "/v1/datasets/1"],
    ["the pass-through", "/api/v1/json/data/1"],
  ])("is on %s", async (_, path) => {
    const url = await httpUpstream((_request, response) =>
      response.end(JSON.stringify({ data_set_description: { id: "1", description: "x".repeat(LARGE) } })),
    );
    const gateway = await listeningGateway(url, { SEND_TIMEOUT_MS: "100" });
    unreader(gateway.port, staying(path));
    const expected = ["slow_clients_total 1", "client_connections 0", "unsent_bytes 0"];
    const end = Date.now() + 60_000;
    let metrics = "";
    do {
      await sleep(50);
      metrics = await gateway.services.meter.registry.metrics();
    } while (Date.now() < end && !expected.every((line) => metrics.includes(`\ncatalog_gateway_${line}\n`)));
    for (const line of expected) expect(metrics).toContain(`\ncatalog_gateway_${line}\n`);
  });

  test("is on the operators' listener", async () => {
    const app = new Hono().get("/", (c) => c.body(large));
    const server = await startAdminServer(consoleListener(app), "127.0.0.1", 0, {
      ...roomyLimits,
      sendTimeout: 200,
      maxSendBytes: LARGE,
    });
    onTestFinished(() => server.stop());
    const socket = unreader(server.port, staying("/"));
    await sleep(2500);
    // What the system holds for it is gone as well: it is reset, not ended.
    const reset = new Promise((resolve) => void socket.once("close", resolve));
    socket.resume();
    await reset;
    expect(socket.bytesRead).toBeLessThan(LARGE);
  });
});

describe("a client that takes nothing for a while", () => {
  test("is cut off where much waits in all, those first that hold most", async () => {
    const { port, unsent, connections } = await open(
      { sendTimeout: 200, maxSendBytes: 2 * LARGE },
      (request, response) => (request.url === "/large" ? response.end(large) : streaming(request, response)),
    );
    unreader(port, staying("/stream"));
    await until(() => unsent.total > 0);
    const alone = unsent.total;
    unreader(port, staying("/large"));
    await until(() => unsent.timedOut === 1 && connections().open === 1);
    expect(unsent.total).toBe(alone);
    await sleep(600);
    expect(connections().open).toBe(1);
    // 15 times the limit without any progress.
    await until(() => connections().open === 0);
    expect([unsent.timedOut, unsent.total]).toEqual([2, 0]);
  });

  test("gets all of a proxied answer, for as long as it takes some within 15 time limits", async () => {
    const url = await httpUpstream((_, response) => response.end(large));
    const gateway = await listeningGateway(url, { SEND_TIMEOUT_MS: "200", BODY_TIMEOUT_MS: "300" });
    const socket = unreader(gateway.port, get("/files/1"));
    let received = 0;
    let burst = 0;
    socket.on("data", (chunk: Buffer) => {
      received += chunk.length;
      burst += chunk.length;
      if (burst < LARGE / 4) return;
      burst = 0;
      socket.pause();
      setTimeout(() => socket.resume(), 500);
    });
    socket.pause();
    setTimeout(() => socket.resume(), 500);
    await new Promise((resolve) => void socket.once("close", resolve));
    expect(received).toBeGreaterThan(LARGE);
  });
});

test("a slow client that takes its answer bit by bit gets all of it", async () => {
  const { port, unsent } = await open({ sendTimeout: 1000 });
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(get("/large"));
  let received = 0;
  let burst = 0;
  socket.on("data", (chunk: Buffer) => {
    received += chunk.length;
    burst += chunk.length;
    if (burst < 1024 * 1024) return;
    burst = 0;
    socket.pause();
    setTimeout(() => socket.resume(), 100);
  });
  await new Promise((resolve) => void socket.once("close", resolve));
  expect(received).toBeGreaterThan(LARGE);
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
