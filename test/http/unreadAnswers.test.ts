import { type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import { startAdminServer } from "../../src/features/console/adminServer.ts";
import { consoleListener } from "../../src/features/console/consoleListener.ts";
import { type ClientLimits, openHttpServer, sendWhole } from "../../src/http/httpServer.ts";
import { exchange, expectDetail, openConnection } from "../serve/support.ts";
import { get, httpUpstream } from "../proxy/support.ts";
import { roomyLimits } from "./limits.ts";
import { listeningGateway } from "./support.ts";
import { sleep, until } from "../support/waiting.ts";

/** More than the system takes for a client that reads nothing. */
const LARGE = 24 * 1024 * 1024;
const large = Buffer.alloc(LARGE, "x");

/** A server of ours over any listener: `/large` answers 24 MiB, anything else `ok`. */
const open = async (limits: Partial<ClientLimits> = {}, listener?: RequestListener) => {
  const opened = openHttpServer(
    {},
    { ...roomyLimits, ...limits },
    listener ?? ((request, response) => response.end(request.url === "/large" ? large : "ok")),
  );
  await new Promise<void>((resolve) => void opened.server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    opened.server.closeAllConnections();
    opened.server.close();
  });
  return { ...opened, port: (opened.server.address() as AddressInfo).port };
};

/** A client that sends this and reads nothing; a reset shows only when it writes, so it is seen at the server. */
const unreader = (port: number, bytes: string, localAddress = "127.0.0.1") => {
  const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.pause();
  socket.write(bytes);
  return socket;
};

/** So long that no client is looked at while a test runs. */
const UNSEEN = 600_000;

/** Answers in pieces of 64 KiB, without an end, and waits for the client after each that it does not take. */
const streaming: RequestListener = (_, response) => {
  const more = () => {
    while (response.write(large.subarray(0, 64 * 1024)));
    response.once("drain", more);
  };
  more();
};

const staying = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

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
    } while (Date.now() < end && !expected.every((line) => metrics.includes(`\ngateway_${line}\n`)));
    for (const line of expected) expect(metrics).toContain(`\ngateway_${line}\n`);
  });

  test("is on the operators' listener", async () => {
    const app = new Hono().get("/", (c) => c.body(large));
    const server = await startAdminServer(consoleListener(app), "127.0.0.1", 0, {
      ...roomyLimits,
      sendTimeout: 400,
      maxSendBytes: LARGE,
    });
    onTestFinished(() => server.stop());
    const socket = unreader(server.port, staying("/"));
    await sleep(1500);
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

describe("bytes that wait for clients", () => {
  test("have a bound: then a request is 503, until they are taken or cut off", async () => {
    const { port, unsent } = await open({ sendTimeout: UNSEEN, maxSendBytes: LARGE });
    const socket = unreader(port, staying("/large"));
    await until(() => unsent.total >= LARGE);
    const refused = await exchange(port, get("/"));
    expectDetail(refused, 503);
    expect(refused.headers.get("retry-after")).toBe("5");
    socket.resume();
    await until(() => unsent.total === 0);
    expect((await exchange(port, get("/"))).body).toBe("ok");
  });

  test.each([
    ["written", (response: ServerResponse) => response.end(large)],
    [
      "sent whole",
      (response: ServerResponse) =>
        sendWhole(response, { status: 200, headers: ["Content-Length", String(LARGE)], body: large }),
    ],
  ])("give way to an answer that is %s, where their clients take nothing", async (_, answer) => {
    const limits = { sendTimeout: 8000, maxSendBytes: 4.5 * LARGE };
    const { port, unsent, connections } = await open(limits, (request, response) => {
      if (request.url === "/large") answer(response);
      else response.end("ok");
    });
    for (let i = 0; i < 4; i++) unreader(port, staying("/large"));
    await until(() => unsent.total > 4 * LARGE - 1);
    await sleep(1000);
    const { status, body } = await exchange(port, get("/large"));
    expect([status, body.length]).toEqual([200, LARGE]);
    expect([unsent.refused, unsent.timedOut]).toEqual([0, 0]);
    expect(unsent.crowdedOut).toBeGreaterThan(0);
    expect(connections().open).toBeGreaterThan(0);
  });

  test("give way to any request, where their clients take nothing", async () => {
    const { port, unsent } = await open({ sendTimeout: 8000, maxSendBytes: LARGE });
    unreader(port, staying("/large"));
    await until(() => unsent.total >= LARGE);
    await sleep(1000);
    expect((await exchange(port, get("/"))).body).toBe("ok");
    expect([unsent.total, unsent.refused, unsent.crowdedOut]).toEqual([0, 0, 1]);
  });

  test("give way where one address holds most of them", async () => {
    const { port, unsent } = await open({ sendTimeout: 8000, maxSendBytes: 8.5 * LARGE });
    const gone: number[] = [];
    for (const host of [1, 2, 3, 2, 4, 5, 2, 6]) {
      const socket = unreader(port, staying("/large"), `127.0.0.${host}`);
      socket.once("close", () => gone.push(host));
      const writing = setInterval(() => socket.write(staying("/")), 200);
      onTestFinished(() => clearInterval(writing));
    }
    await until(() => unsent.total > 8 * LARGE - 1);
    await sleep(1000);
    expect((await exchange(port, get("/large"))).body.length).toBe(LARGE);
    // Two, so that the next answer finds room.
    await until(() => gone.length === 2);
    expect([gone, unsent.crowdedOut]).toEqual([[2, 2], 2]);
  });

  test("have it too where answers are on their way already: the newest is cut off", async () => {
    const held: (() => void)[] = [];
    const { port, unsent, connections } = await open(
      { sendTimeout: UNSEEN, maxSendBytes: 1.5 * LARGE },
      (_, response) => {
        held.push(() => response.end(large));
      },
    );
    for (let i = 0; i < 5; i++) unreader(port, staying("/large"));
    await until(() => held.length === 5);
    for (const answer of held) answer();
    expect(unsent.total).toBeLessThan(1.5 * LARGE);
    expect(unsent.crowdedOut).toBe(4);
    await until(() => connections().open === 1);
  });

  test("leave no room for an answer that does not fit beside them: it is 503", async () => {
    const { port, unsent, connections } = await open(
      { sendTimeout: UNSEEN, maxSendBytes: 1.5 * LARGE },
      (_, response) => {
        sendWhole(response, { status: 200, headers: ["Content-Length", String(LARGE)], body: large });
      },
    );
    unreader(port, staying("/large"));
    await until(() => unsent.total > 0);
    const refused = await exchange(port, get("/large"));
    expectDetail(refused, 503);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect([unsent.refused, unsent.crowdedOut, connections().open]).toEqual([1, 0, 1]);
  });

  test("have no room for one more answer of the new interface, from the cache or not", async () => {
    const dataset = JSON.stringify({ data_set_description: { id: "1", description: "x".repeat(LARGE) } });
    const url = await httpUpstream((_request, response) => response.end(dataset));
    const cached = { CACHE_BYTES: String(4 * LARGE), CACHE_ENTRY_BYTES: String(3 * LARGE) };
    const gateway = await listeningGateway(url, {
      MAX_SEND_BYTES: String(1.5 * LARGE),
      SEND_TIMEOUT_MS: String(UNSEEN),
      ...cached,
    });
    const read = async (path: string) => {
      const { status, head, body } = await exchange(gateway.port, get(path));
      return [status, body.length > LARGE, /\r\ncache-status: [^\r]*hit/i.test(head)];
    };
    expect(await read("/v1/datasets/1")).toEqual([200, true, false]);
    expect(await read("/v1/datasets/1")).toEqual([200, true, true]);
    const socket = unreader(gateway.port, staying("/v1/datasets/2"));
    const waits = async () => {
      const [{ value } = { value: 0 }] =
        (await gateway.services.meter.registry.getSingleMetric("gateway_unsent_bytes")?.get())?.values ?? [];
      return value > 0;
    };
    while (!(await waits())) await sleep(20);
    expect(await read("/v1/datasets/1")).toEqual([503, false, false]);
    expect(await read("/v1/datasets/3")).toEqual([503, false, false]);
    socket.destroy();
    while (await waits()) await sleep(20);
    expect(await read("/v1/datasets/1")).toEqual([200, true, true]);
  });
});

test("connections have a bound: the newest is told 503 without a request", async () => {
  const { port, connections } = await open({ maxConnections: 2 });
  const first = openConnection(port);
  const second = openConnection(port);
  await until(() => connections().open === 2);
  for (const request of ["", get("/")]) {
    const refused = await exchange(port, ...(request === "" ? [] : [request]));
    expectDetail(refused, 503);
    expect(refused.headers.get("retry-after")).toBe("5");
  }
  expect(connections()).toEqual({ open: 2, refused: 2 });
  first.socket.write(staying("/"));
  await until(() => first.text().endsWith("ok"));
  second.socket.destroy();
  await until(() => connections().open === 1);
  expect((await exchange(port, get("/"))).body).toBe("ok");
});

test("a refused connection whose client stays is closed after a second", async () => {
  const { port } = await open({ maxConnections: 1 });
  openConnection(port);
  const stays = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void stays.destroy());
  const closed = new Promise((resolve) => void stays.once("close", resolve));
  const writing = setInterval(() => stays.write("x"), 50);
  stays.on("error", () => undefined);
  await closed;
  clearInterval(writing);
  expect(stays.bytesRead).toBeGreaterThan(0);
});

test("a connection that answers one request after the other serves any number of them", async () => {
  const { port } = await open();
  const { socket, text } = openConnection(port);
  for (let i = 1; i <= 5; i++) {
    socket.write(staying("/").repeat(30));
    await until(() => text().endsWith("ok") && text().split("\r\n\r\nok").length > i * 30);
  }
  expect(text()).not.toContain("503");
});

describe("what is no HTTP behind a request that is being answered", () => {
  const post = (version: string, ...headers: string[]) =>
    [`POST /files HTTP/${version}`, "Host: a", ...headers, "Content-Length: 2", "", "hi"].join("\r\n");

  test.each([
    ["two bytes too many with HTTP/1.0", `${post("1.0")}!!`],
    ["a second request after Connection: close", post("1.1", "Connection: close") + staying("/b")],
    ["two bytes too many", `${post("1.1")}!!`],
  ])("%s: the first one's answer goes out, and the connection closes", async (_, bytes) => {
    const asked: string[] = [];
    const url = await httpUpstream((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      request.resume().on("end", () => void setTimeout(() => response.end("stored"), 100));
    });
    const gateway = await listeningGateway(url);
    const { status, body, text } = await exchange(gateway.port, bytes);
    expect([status, body.includes("stored"), text.split("HTTP/1.1 ").length]).toEqual([200, true, 2]);
    expect(asked).toEqual(["POST /files"]);
  });

  test("that comes while the answer is being sent does not cut it off", async () => {
    const { port } = await open({}, (_, response) => {
      response.write("first, ");
      setTimeout(() => response.end("second"), 300);
    });
    const { socket, text, closed } = openConnection(port);
    socket.write(staying("/"));
    await until(() => text().includes("first"));
    socket.write("\0".repeat(10));
    await sleep(50);
    socket.write("\0".repeat(10));
    await closed;
    expect(text()).toMatch(/first, [^]*second[^]*\r\n0\r\n\r\n$/);
  });

  test("does not answer a request that waits behind it", async () => {
    const seen: (string | undefined)[] = [];
    const { port } = await open({}, (request, response) => {
      seen.push(request.url);
      setTimeout(() => response.end("ok"), 100);
    });
    const { text } = await exchange(port, `${staying("/a")}${staying("/b")}!!`);
    expect(text.split("HTTP/1.1 ").length).toBe(2);
    expect(seen).toEqual(["/a"]);
  });

  test("is 400 where it is part of that request itself", async () => {
    const { port } = await open({}, () => undefined);
    const request = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    expectDetail(await exchange(port, request), 400);
  });
});
