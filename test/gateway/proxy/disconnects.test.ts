import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { expectHealthy, get, httpUpstream, openProxy, originOf, request, send } from "./support.ts";
import { until } from "../../support/waiting.ts";

const open = (port: number, ...parts: (string | Buffer)[]): Socket => {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  for (const part of parts) socket.write(part);
  return socket;
};

test.each([
  { title: "200 KB", size: 200_000 },
  // More than the kernel's buffers hold, so that the gateway has paused when its client leaves.
  { title: "16 MB", size: 16 * 1024 * 1024 },
])("64 clients that leave within an answer of $title block no connection", async ({ size }) => {
  const body = Buffer.alloc(size, "x");
  const origin = await httpUpstream((req, res) => res.end(req.url === "/healthy" ? "healthy" : body));
  const gateway = await openProxy(origin, { connections: 4 });
  let left = 0;
  for (let i = 0; i < 64; i++) {
    const socket = open(gateway.port, get("/big", "Range: x"));
    socket.once("data", () => {
      socket.pause();
      setTimeout(() => {
        socket.destroy();
        left++;
      }, i * 3);
    });
  }
  await until(() => left === 64);
  const answer = await fetch(`${originOf(gateway.port)}/healthy`, { headers: { connection: "close" } });
  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe("healthy");
  await until(() => gateway.upstream.semaphore.running === 0 && gateway.upstream.semaphore.waiting === 0);
});

test("a slow reader pauses the upstream, and gets everything", async () => {
  const size = 24 * 1024 * 1024;
  let sent = 0;
  const origin = await httpUpstream((_, res) => {
    const chunk = Buffer.alloc(64 * 1024);
    const more = (): void => {
      while (sent < size) {
        sent += chunk.length;
        if (!res.write(chunk)) return void res.once("drain", more);
      }
      res.end();
    };
    more();
  });
  const gateway = await openProxy(origin);
  const socket = open(gateway.port, "GET / HTTP/1.0\r\n\r\n").pause();
  let before = 0;
  let unchanged = 0;
  await until(() => {
    unchanged = sent > 0 && sent === before ? unchanged + 1 : 0;
    before = sent;
    return unchanged > 50;
  });
  expect(sent).toBeLessThan(size);
  let got = 0;
  socket.on("data", (chunk) => (got += chunk.length)).resume();
  await new Promise((resolve) => {
    socket.on("end", resolve);
  });
  expect(got).toBeGreaterThan(size);
});

test("a client that reads nothing any more is cut off, and gives its place back", async () => {
  const origin = await httpUpstream((req, res) =>
    res.end(req.url === "/healthy" ? "healthy" : Buffer.alloc(32 * 1024 * 1024)),
  );
  const gateway = await openProxy(origin, { limits: { sendTimeout: 30 } });
  open(gateway.port, get("/big")).pause();
  await until(() => gateway.events.length === 1);
  expect(gateway.events).toMatchObject([{ kind: "aborted", path: "/big" }]);
  await expectHealthy(gateway);
});

test.each([
  ["before the headers come", "upstream", (path: string) => [get(path)]],
  [
    "within its upload",
    "uploads",
    (path: string) => [request(`POST ${path}`, "Content-Length: 1000000"), Buffer.alloc(100_000)],
  ],
] as const)("a client that leaves %s aborts the upstream's request", async (_, pool, asking) => {
  let begun = 0;
  let aborted = 0;
  const origin = await httpUpstream((req, res) => {
    if (req.url === "/healthy") return void res.end("healthy");
    begun++;
    req.on("error", () => undefined).resume();
    return res.on("close", () => aborted++);
  });
  const gateway = await openProxy(origin);
  const socket = open(gateway.port, ...asking("/left"));
  await until(() => begun === 1 && gateway[pool].semaphore.running === 1);
  socket.destroy();
  await until(() => aborted === 1);
  expect(gateway.events).toMatchObject([{ kind: "aborted", path: "/left" }]);
  await expectHealthy(gateway);
});

test("a client that leaves while its request waits is never sent on", async () => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const origin = await httpUpstream((req, res) => {
    asked.push(req.url ?? "");
    if (req.url === "/healthy") res.end("healthy");
    else answers.push(() => res.end("ok"));
  });
  const gateway = await openProxy(origin, { connections: 1 });
  const first = send(gateway.port, get("/first"));
  await until(() => asked.length === 1);
  const second = open(gateway.port, get("/second"));
  await until(() => gateway.upstream.semaphore.waiting === 1);
  second.destroy();
  await until(() => gateway.upstream.semaphore.waiting === 0);
  for (const answer of answers) answer();
  expect((await first).head).toMatch(/^HTTP\/1\.1 200 /);
  await expectHealthy(gateway);
  expect(asked).toEqual(["/first", "/healthy"]);
});

test("an answer before the end of the upload reaches the client on a live connection", async () => {
  const origin = await httpUpstream((req, res) => {
    if (req.url === "/healthy") res.end("healthy");
    else res.writeHead(413).end("too much");
  });
  const gateway = await openProxy(origin);
  const size = 8 * 1024 * 1024;
  const head = `POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`;
  const { text } = await send(gateway.port, head, Buffer.alloc(size), get("/healthy"));
  expect(text).toMatch(/^HTTP\/1\.1 413 [^]*too much[^]*HTTP\/1\.1 200 [^]*healthy/);
  await expectHealthy(gateway);
});

test("a client that has gone before anything is dispatched costs the upstream nothing", async () => {
  const asked: string[] = [];
  const origin = await httpUpstream((req, res) => {
    asked.push(req.url ?? "");
    res.end("healthy");
  });
  const gateway = await openProxy(origin);
  const late: [IncomingMessage, ServerResponse][] = [];
  const front = new URL(await httpUpstream((...exchange) => void late.push(exchange)));
  const socket = open(Number(front.port), request("POST /gone", "Content-Length: 9"), "half");
  await until(() => late.length === 1);
  socket.destroy();
  await until(() => late[0]?.[1].destroyed === true);
  for (const [req, res] of late) gateway.listener(req, res);
  expect(gateway.events).toMatchObject([{ kind: "aborted", path: "/gone" }]);
  await expectHealthy(gateway);
  expect(asked).toEqual(["/healthy"]);
});
