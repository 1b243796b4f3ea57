import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openConnection } from "../answer/support.ts";
import { until } from "../../support/waiting.ts";
import { get, httpUpstream, openProxy, rawUpstream, request, send } from "./support.ts";

const reply = (text: string): ReturnType<typeof rawUpstream> =>
  rawUpstream((socket) => socket.write(Buffer.from(text, "latin1")));

test("status, reason, header case, order, repetitions and odd bytes are preserved", async () => {
  const lines = [
    "HTTP/1.1 299 Tr\xe8s B\xefen",
    "X-lower-UPPER: 1",
    "set-cookie: a=1; path=/",
    "Server: \xe9",
    "Set-Cookie: b=2",
    'ETag: "x"',
    "X-Empty: ",
    "content-LENGTH: 2",
  ];
  const { origin } = await reply(`${lines.join("\r\n")}\r\n\r\nok`);
  const { port } = await openProxy(origin);
  const { head, body } = await send(port, get("/"));
  const added = [expect.stringMatching(/^X-Request-Id: [\w-]{14,}$/), "Connection: close"];
  expect(head.split("\r\n").slice(1)).toEqual([...lines.slice(1), ...added]);
  expect(head).toMatch(/^HTTP\/1\.1 299 Tr/);
  expect(body).toBe("ok");
});

const zurich = Buffer.from("Zürich").toString("latin1");
test.each([
  ["", ""],
  [zurich, zurich],
  // A control character cannot be sent.
  ["O\x01\x7fK", "O  K"],
])("the reason phrase %j goes on as %j", async (reason, sent) => {
  const { origin } = await reply(`HTTP/1.1 200 ${reason}\r\nContent-Length: 2\r\n\r\nok`);
  const { port } = await openProxy(origin);
  const { head, body } = await send(port, get("/"));
  expect([head.split("\r\n")[0], body]).toEqual([`HTTP/1.1 200 ${sent}`, "ok"]);
});

test("the request's line and headers arrive with their case, order and repetitions", async () => {
  const { origin, requests } = await reply("HTTP/1.1 204 No Content\r\n\r\n");
  const { port } = await openProxy(origin);
  const path = "//a/./../b/%2e%2e/%41%zz/c;d?x=%26&&y=[]|\"'&api_key=1";
  await send(port, get(path, "x-B: 2", "X-a: 1", "x-b: 3", "Cookie: k=v; l", "Accept-Encoding: gzip, zstd"));
  const lines = requests[0]?.split("\r\n") ?? [];
  expect(lines[0]).toBe(`GET ${path} HTTP/1.1`);
  expect(lines.slice(1, 3).toSorted()).toEqual(["connection: keep-alive", "host: front.example"]);
  expect(lines.slice(3, 8)).toEqual(["x-B: 2", "X-a: 1", "x-b: 3", "Cookie: k=v; l", "Accept-Encoding: gzip, zstd"]);
});

test("Host is the client's unless a setting names it; legacy's Location is unchanged", async () => {
  const location = "Location: http://inner.example/dir/";
  const { origin, requests } = await reply(`HTTP/1.1 301 Moved\r\n${location}\r\nContent-Length: 0\r\n\r\n`);
  await send((await openProxy(origin)).port, get("/dir"));
  const { head } = await send((await openProxy(origin, { host: "inner.example" })).port, get("/dir"));
  expect(head).toContain(`${location}\r\n`);
  expect(requests[0]).toMatch(/^host: front\.example\r$/im);
  expect(requests[1]).toMatch(/^host: inner\.example\r$/im);
  expect(requests[1]).not.toMatch(/^host: front/im);
  expect(requests[1]).toMatch(/^X-Forwarded-Host: front\.example\r$/m);
});

test("an absolute target goes on in origin form, its authority as Host", async () => {
  const { origin, requests } = await reply("HTTP/1.1 204 No Content\r\n\r\n");
  const { port } = await openProxy(origin);
  await send(port, get("HTTP://other.example:81?q=/a"));
  expect(requests[0]).toMatch(/^GET \/\?q=\/a HTTP\/1\.1\r\nhost: other\.example:81\r\n/);
  expect(requests[0]).toMatch(/^X-Forwarded-Host: other\.example:81\r$/m);
});

test("hop-by-hop headers stay on their connection, with those that Connection names", async () => {
  const { origin, requests } = await reply(
    "HTTP/1.1 200 OK\r\nConnection: X-Secret , keep-alive,,\r\nConnection: x-b, Content-Length\r\nX-SECRET: 1\r\nX-B: secret\r\nKeep-Alive: timeout=77\r\nProxy-Connection: a\r\n" +
      "Proxy-Authenticate: b\r\nTrailer: c\r\nUpgrade: d\r\nX-Kept: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  );
  const { port } = await openProxy(origin);
  const { head } = await send(
    port,
    "GET / HTTP/1.1\r\nHost: a\r\nX-Mine: 1\r\nConnection: x-mine, TE, via, X-Forwarded-For, forwarded, Host, close\r\nTE: trailers\r\n" +
      "Keep-Alive: 9\r\nProxy-Authorization: p\r\nTrailer: t\r\nUpgrade: h2c\r\nHTTP2-Settings: q\r\nX-Other: 2\r\n\r\n",
  );
  expect(head).not.toMatch(/secret|timeout=77|proxy|trailer|upgrade/i);
  expect(head).toMatch(/^X-Kept: 1\r$/m);
  expect(requests[0]).not.toMatch(/x-mine|^te:|keep-alive: 9|proxy|trailer|upgrade|http2/im);
  expect(requests[0]).toMatch(/^host: a\r$/m);
  expect(requests[0]).toMatch(/^X-Other: 2\r$/m);
  expect(requests[0]).toMatch(/^Via: 1\.1 catalog-gateway-[0-9a-f]{8}-[0-9a-f-]{36}\r$/m);
  expect(requests[0]).toMatch(/^X-Forwarded-For: 127\.0\.0\.1\r$/m);
  expect(requests[0]).toMatch(/^Forwarded: for=127\.0\.0\.1;host=a;proto=http\r$/m);
});

test("only a trusted peer is believed about the client", async () => {
  const { origin, requests } = await reply("HTTP/1.1 204 No Content\r\n\r\n");
  const lies = [
    "X-Forwarded-For: 6.6.6.6",
    "x_forwarded_for: 7.7.7.7",
    "X-Forwarded-Proto: https",
    "Forwarded: for=6.6.6.6",
  ];
  await send((await openProxy(origin)).port, get("/", ...lies));
  await send((await openProxy(origin, { trusted: (address) => address === "127.0.0.1" })).port, get("/", ...lies));
  expect(requests[0]).not.toMatch(/6\.6\.6\.6|7\.7\.7\.7|https/);
  expect(requests[1]).toMatch(/^X-Forwarded-For: 6\.6\.6\.6, 127\.0\.0\.1\r$/m);
  expect(requests[1]).toMatch(/^X-Forwarded-Proto: https\r$/m);
  expect(requests[1]).toMatch(/^Forwarded: for=6\.6\.6\.6, for=127\.0\.0\.1;host=front\.example;proto=http\r$/m);
  expect(requests[1]).not.toMatch(/7\.7\.7\.7/);
});

test("a compressed body is not touched", async () => {
  const zipped = gzipSync("hello ".repeat(1000)).toString("latin1");
  const { origin } = await reply(
    `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${zipped.length}\r\n\r\n${zipped}`,
  );
  const { port } = await openProxy(origin);
  const { head, body } = await send(port, get("/"));
  expect(body).toBe(zipped);
  expect(head).toMatch(/^Content-Encoding: gzip\r\nContent-Length: \d+\r$/m);
});

const partial = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 1-3/9\r\nContent-Length: 3\r\n\r\nbcd";
test.each([
  ["a range", partial, "bcd"],
  ["an empty 500", "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n", ""],
  ["a 204", "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n", ""],
  ["a 304", 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 99\r\n\r\n', ""],
  ["a body up to the end of the connection", "HTTP/1.0 200 OK\r\n\r\nabc", "3\r\nabc\r\n0\r\n\r\n"],
])("%s passes as it is", async (_, text, expected) => {
  const { origin } = await rawUpstream((socket) =>
    text.startsWith("HTTP/1.0") ? socket.end(text) : socket.write(text),
  );
  const { port } = await openProxy(origin);
  const { head, body } = await send(port, get("/", "Range: bytes=1-3"));
  const sent = text.slice(0, text.indexOf("\r\n\r\n")).replace("HTTP/1.0", "HTTP/1.1");
  const got = head.split("\r\n").filter((line) => !/^(connection|transfer-encoding|x-request-id):/i.test(line));
  expect(got).toEqual(sent.split("\r\n"));
  expect(body).toBe(expected);
});

test("HEAD keeps its Content-Length and has no body", async () => {
  const { origin, requests } = await reply("HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n");
  const { port } = await openProxy(origin);
  const { head, body } = await send(port, request("HEAD /"));
  expect(head).toMatch(/^Content-Length: 12345\r$/m);
  expect(body).toBe("");
  expect(requests[0]).toMatch(/^HEAD \/ /);
});

test("small chunks that come at a time are joined: each write would hold memory", async () => {
  const bytes = "uvwxyz".repeat(600);
  const chunks = bytes.replaceAll(/./g, "1\r\n$&\r\n");
  const { origin } = await reply(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  const { port } = await openProxy(origin);
  const { body } = await send(port, get("/"));
  expect(body.replaceAll(/[^u-z]/g, "")).toBe(bytes);
  expect(body.split("\r\n").length).toBeLessThan(100);
});

test("an answer that can have no body has no length", async () => {
  const early = "HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\nLink: <a>\r\n\r\n";
  const { origin } = await reply(`${early}HTTP/1.1 204 No Content\r\nContent-Length: 5\r\nX-A: 1\r\n\r\n`);
  const { port } = await openProxy(origin);
  const { text } = await send(port, get("/"));
  expect(text).toMatch(/^HTTP\/1\.1 103 [^]*Link: <a>\r\n\r\nHTTP\/1\.1 204 [^]*X-A: 1\r\n/);
  expect(text).not.toMatch(/content-length/i);
});

test("a length stays a length, on GET and DELETE too", async () => {
  const origin = await httpUpstream((req, res) => {
    let got = "";
    req.on("data", (chunk) => (got += String(chunk)));
    req.on("end", () =>
      res.end(`${req.method} ${req.headers["content-length"]} ${req.headers["transfer-encoding"]} ${got}`),
    );
  });
  const { port } = await openProxy(origin);
  expect((await send(port, request("GET /", "Content-Length: 3"), "abc")).body).toContain("GET 3 undefined abc");
  expect((await send(port, request("DELETE /", "Content-Length: 3"), "abc")).body).toContain("DELETE 3 undefined abc");
  expect((await send(port, request("POST /", "Content-Length: 0"))).body).toContain("POST 0 undefined ");
});

test("an HTTP/1.0 client gets its body to the end of the connection", async () => {
  const { origin } = await reply("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
  const { port } = await openProxy(origin);
  const { head, body } = await send(port, "GET / HTTP/1.0\r\n\r\n");
  expect(head).not.toMatch(/chunked/i);
  expect(body).toBe("abc");
});

test("an interim answer is passed on and not taken for the answer", async () => {
  const { origin } = await reply(
    "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
  );
  const { port } = await openProxy(origin);
  const { text } = await send(port, get("/"));
  expect(text).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*ok$/);
  expect((await send(port, "GET / HTTP/1.0\r\n\r\n")).text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*ok$/);
});

test("Expect: 100-continue is answered here and the upload works", async () => {
  const origin = await httpUpstream((req, res) => {
    const { expect: expected } = req.headers;
    req.on("data", (chunk) => res.write(chunk));
    req.on("end", () => res.end(` ${expected}`));
  });
  const { port } = await openProxy(origin);
  const { socket, text, closed } = openConnection(port);
  socket.write(request("PUT /", "Expect: 100-continue", "Content-Length: 4"));
  await until(() => text() === "HTTP/1.1 100 Continue\r\n\r\n");
  socket.write("data");
  await closed;
  expect(text()).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*data[^]*undefined/);
});

test("headers reach the client before a body that is slow to come", async () => {
  const sockets: Socket[] = [];
  const { origin } = await rawUpstream((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
    sockets.push(socket);
  });
  const { port } = await openProxy(origin);
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  expect(answer.status).toBe(200);
  for (const socket of sockets) socket.write("late");
  expect(await answer.text()).toBe("late");
});
