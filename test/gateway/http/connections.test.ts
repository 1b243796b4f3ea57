import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { exchange, expectDetail, openConnection } from "../answer/support.ts";
import { get, httpUpstream } from "../proxy/support.ts";
import { listeningGateway } from "./support.ts";
import { open, staying } from "./openServer.ts";
import { settled, until } from "../../support/waiting.ts";

test("connections have a bound: the newest is answered 503 without a request", async () => {
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

test("a stop answers connections that wait, where no turn of the event loop is short", async () => {
  const { port, server } = await listeningGateway("http://127.0.0.1:9");
  let isBusy = true;
  const spin = (): void => {
    const end = performance.now() + 6;
    while (performance.now() < end);
    if (isBusy) setImmediate(spin);
  };
  // The event loop accepts one connection a turn: these take longer than the stop waits for a short turn.
  const clients = Array.from({ length: 120 }, () => openConnection(port));
  for (const { socket } of clients) socket.write(get("/v1/none"));
  spin();
  const stopped = server.stop(10_000);
  await Promise.all(clients.map(({ closed }) => closed));
  isBusy = false;
  expect(new Set(clients.map(({ text }) => text().slice(0, 12)))).toEqual(new Set(["HTTP/1.1 404"]));
  expect(await stopped).toBe(true);
});

describe("malformed bytes behind a request that is being answered", () => {
  const post = (version: string, ...headers: string[]) =>
    [`POST /files HTTP/${version}`, "Host: a", ...headers, "Content-Length: 2", "", "hi"].join("\r\n");

  test.each([
    ["two bytes too many with HTTP/1.0", `${post("1.0")}!!`],
    ["a second request after Connection: close", post("1.1", "Connection: close") + staying("/b")],
    ["two bytes too many", `${post("1.1")}!!`],
  ])("%s: the first request's answer goes out, and the connection closes", async (_, bytes) => {
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

  test("malformed bytes do not cut off an answer that is being sent", async () => {
    let end = () => {};
    const { port } = await open({}, (_, response) => {
      response.write("first, ");
      end = () => response.end("second");
    });
    const { socket, text, closed } = openConnection(port);
    socket.write(staying("/"));
    await until(() => text().includes("first"));
    socket.write("\0".repeat(10));
    await settled();
    socket.write("\0".repeat(10));
    await settled();
    end();
    await closed;
    expect(text()).toMatch(/first, [^]*second[^]*\r\n0\r\n\r\n$/);
  });

  test("a request that waits behind malformed bytes is not answered", async () => {
    const seen: (string | undefined)[] = [];
    const { port } = await open({}, (request, response) => {
      seen.push(request.url);
      setTimeout(() => response.end("ok"), 100);
    });
    const { text } = await exchange(port, `${staying("/a")}${staying("/b")}!!`);
    expect(text.split("HTTP/1.1 ").length).toBe(2);
    expect(seen).toEqual(["/a"]);
  });

  test("a malformed body is 400", async () => {
    const { port } = await open({}, () => undefined);
    const request = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
    expectDetail(await exchange(port, request), 400);
  });
});
