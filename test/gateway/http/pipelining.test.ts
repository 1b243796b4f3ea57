import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { openConnection } from "../answer/support.ts";
import { MessageReader, type Message } from "../../torture/lib/messageReader.ts";
import { httpUpstream } from "../proxy/support.ts";
import { open } from "./openServer.ts";
import { listeningGateway } from "./support.ts";
import { usedMemory } from "../../support/memory.ts";
import { settled, sleep, until } from "../../support/waiting.ts";

/** A listener whose requests are kept until the test answers them. */
const keeping = () => {
  const kept: { path: string; request: IncomingMessage; response: ServerResponse }[] = [];
  const listener: RequestListener = (request, response) =>
    void kept.push({ path: request.url ?? "", request, response });
  return { kept, listener, paths: () => kept.map(({ path }) => path) };
};

/** A legacy that answers when the test says so. */
const keepingLegacy = async () => {
  const { kept, listener, paths } = keeping();
  return { kept, paths, url: await httpUpstream(listener) };
};

const asking = (line: string, ...headers: string[]) =>
  `${[`${line} HTTP/1.1`, "Host: a", ...headers].join("\r\n")}\r\n\r\n`;

/** The answers in a connection's text; `heads` are the places of those that answer HEAD. */
const answersIn = (text: string, ...heads: number[]): Message[] => {
  const answers: Message[] = [];
  const reader = new MessageReader({
    hasNoBody: (start) => heads.includes(answers.length) || / (?:204|304) /.test(start),
    withoutLength: "close",
    onMessage: (message) => void answers.push(message),
    onBroken: (why) => expect.fail(why),
  });
  reader.push(Buffer.from(text, "latin1"));
  reader.end();
  return answers;
};

const statusesIn = (text: string, ...heads: number[]) =>
  answersIn(text, ...heads).map(({ start }) => start.slice(9, 12));

const interimAndBodies = (text: string) => answersIn(text).map(({ interim, body }) => [interim, body.toString()]);

describe("behind an unfinished answer", () => {
  test("a 103 of the upstream stands before its own answer", async () => {
    const { url, kept } = await keepingLegacy();
    const { port } = await listeningGateway(url);
    const { socket, text, closed } = openConnection(port);
    socket.write(asking("GET /old/1") + asking("GET /old/2", "Connection: close"));
    await until(() => kept.length === 1);
    kept[0]?.response.end("first");
    await until(() => kept.length === 2);
    kept[1]?.response.writeEarlyHints({ link: "</a>; rel=preload" }, () => kept[1]?.response.end("answer"));
    await closed;
    expect(interimAndBodies(text())).toEqual([
      [0, "first"],
      [1, "answer"],
    ]);
  });

  test.each(["", "abc"])("Expect: 100-continue is answered in its turn (with %j)", async (begun) => {
    const { url, kept } = await keepingLegacy();
    const { port } = await listeningGateway(url);
    const { socket, text, closed } = openConnection(port);
    const headers = ["Content-Length: 3", "Expect: 100-continue", "Connection: close"];
    socket.write(asking("GET /old/1") + asking("PUT /old/2", ...headers) + begun);
    await until(() => kept.length === 1);
    await settled();
    expect(text()).toBe("");
    kept[0]?.response.end("first");
    await until(() => text().includes("100 Continue"));
    socket.write("abc".slice(begun.length));
    await until(() => kept.length === 2);
    kept[1]?.response.end("second");
    await closed;
    expect(interimAndBodies(text())).toEqual([
      [0, "first"],
      [1, "second"],
    ]);
  });

  test("another expectation is refused with 417 in its turn, and ends the connection", async () => {
    const { kept, listener, paths } = keeping();
    const { port } = await open({}, listener);
    const { socket, text, closed } = openConnection(port);
    socket.write(asking("GET /1") + asking("GET /2", "Expect: more") + asking("GET /3"));
    await until(() => kept.length === 1);
    kept[0]?.response.end("first");
    await closed;
    expect(statusesIn(text())).toEqual(["200", "417"]);
    expect(paths()).toEqual(["/1"]);
  });

  test("an answer that the upstream breaks off closes the connection", async () => {
    const { url, kept } = await keepingLegacy();
    const { port } = await listeningGateway(url);
    const { socket, text, closed } = openConnection(port);
    socket.write(asking("GET /old/1") + asking("GET /old/2"));
    await until(() => kept.length === 1);
    kept[0]?.response.end("first");
    await until(() => kept.length === 2);
    kept[1]?.response.writeHead(200, { "Content-Length": "100" }).write("half");
    await until(() => text().endsWith("half"));
    kept[1]?.response.socket?.destroy();
    await closed;
    expect(text()).toMatch(/^HTTP\/1\.1 200 [^]*first[^]*HTTP\/1\.1 200 [^]*half$/);
  });

  test("a request is not begun, and is when the one before it has been sent whole", async () => {
    const { kept, listener, paths } = keeping();
    const { port } = await open({}, listener);
    const { socket, text } = openConnection(port);
    socket.write(asking("GET /1") + asking("GET /2") + asking("GET /3"));
    await until(() => kept.length === 1);
    const seen: boolean[] = [];
    for (let i = 0; i < 3; i++) {
      await settled();
      expect(paths()).toEqual(["/1", "/2", "/3"].slice(0, i + 1));
      kept[i]?.response.once("close", () => seen.push(kept.length === i + 1));
      kept[i]?.response.end(`answer ${i}`);
      await until(() => text().endsWith(`answer ${i}`) && kept.length === Math.min(3, i + 2));
    }
    expect(seen).toEqual([true, true, true]);
  });

  test("a body that is not read yet is left with the client", async () => {
    const { kept, listener } = keeping();
    const { port, sockets } = await open({}, listener);
    const { socket, text } = openConnection(port);
    const size = 32 * 1024 * 1024;
    socket.write(asking("GET /1") + asking("PUT /2", `Content-Length: ${size}`));
    socket.write(Buffer.alloc(size));
    await until(() => (sockets[0]?.bytesRead ?? 0) > 60_000);
    await settled();
    expect(sockets[0]?.bytesRead).toBeLessThan(512 * 1024);
    kept[0]?.response.end();
    await until(() => kept.length === 2);
    let got = 0;
    kept[1]?.request
      .on("data", (chunk: Buffer) => (got += chunk.length))
      .on("end", () => kept[1]?.response.end("taken"));
    await until(() => text().endsWith("taken"));
    expect(got).toBe(size);
  });

  test("a body in chunks of one byte takes the memory of its bytes, and is whole", async () => {
    const { kept, listener } = keeping();
    const { port, sockets } = await open({}, listener);
    const bytes = "0123456789".repeat(6000);
    const sent = `${asking("GET /1")}${asking("PUT /2", "Transfer-Encoding: chunked")}${bytes.replaceAll(/./g, "1\r\n$&\r\n")}`;
    const before = usedMemory();
    const connections = Array.from({ length: 10 }, () => openConnection(port));
    for (const { socket } of connections) socket.write(sent);
    await until(() => sockets.length === 10 && sockets.every(({ bytesRead }) => bytesRead === sent.length));
    expect(usedMemory() - before).toBeLessThan(20);
    let got = "";
    kept[0]?.response.end();
    await until(() => kept.length === 11);
    kept[10]?.request.on("data", (chunk: Buffer) => (got += chunk.toString()));
    await until(() => got === bytes);
  });
});

test.each([60_000, 130_000])("a body of %i bytes that waited is sent on once, and whole", async (size) => {
  const bodies: string[] = [];
  const url = await httpUpstream((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      bodies.push(body);
      setTimeout(() => response.end("taken"), 50);
    });
  });
  const { port } = await listeningGateway(url);
  const { socket, text, closed } = openConnection(port);
  const body = "abcdefghij".repeat(size).slice(0, size);
  socket.write(`${asking("GET /old/1")}${asking("POST /old/2", `Content-Length: ${size}`)}${body}`);
  socket.write(asking("GET /old/3", "Connection: close"));
  await closed;
  expect(statusesIn(text())).toEqual(["200", "200", "200"]);
  expect(bodies.map((sent) => sent.length)).toEqual([0, size, 0]);
  expect(bodies[1] === body).toBe(true);
});

test("nine pipelined requests of every kind are answered in order", async () => {
  const asked: string[] = [];
  const url = await httpUpstream((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    if (path.startsWith("/old")) {
      // The later, the sooner.
      setTimeout(() => response.writeHead(path.endsWith("none") ? 204 : 200).end(path), 60 - asked.length);
    } else response.end('{"evaluation_measures":{"measures":{"measure":"kappa"}}}');
  });
  const { port } = await listeningGateway(url);
  const kinds: { line: string; expected: (i: number) => [status: string, body: string] }[] = [
    { line: "GET /old/get/#", expected: (i) => ["200", `/old/get/${i}`] },
    { line: "GET /v1/evaluationmeasures/list", expected: () => ["200", '["kappa"]'] },
    { line: "HEAD /old/head/#", expected: () => ["200", ""] },
    { line: "GET /v1/datasets/none#", expected: () => ["422", expect.stringContaining("detail") as string] },
    { line: "GET /old/#/none", expected: () => ["204", ""] },
    { line: "OPTIONS *", expected: () => ["204", ""] },
    { line: "HEAD /v1/evaluationmeasures/list", expected: () => ["200", ""] },
    { line: "PUT /old/put/#", expected: (i) => ["200", `/old/put/${i}`] },
  ];
  const { socket, text, closed } = openConnection(port);
  const bytes = kinds.map(({ line }, i) =>
    line.startsWith("PUT")
      ? `${asking(line.replace("#", String(i)), "Content-Length: 4")}body`
      : asking(line.replace("#", String(i))),
  );
  socket.write(`${bytes.join("")}${asking("GET /unsound", "Host: b")}${asking("GET /old/never")}`);
  await closed;
  const heads = kinds.flatMap(({ line }, i) => (line.startsWith("HEAD") ? [i] : []));
  const answers = answersIn(text(), ...heads).map(({ start, body }) => [start.slice(9, 12), body.toString()]);
  expect(answers).toEqual([
    ...kinds.map(({ expected }, i) => expected(i)),
    ["400", expect.stringContaining('{"detail":')],
  ]);
  expect(asked).not.toContain("/old/never");
});

describe("of a connection that ends", () => {
  test("requests that wait on a connection that ends are never begun", async () => {
    const { kept, listener, paths } = keeping();
    const { port, server, sockets } = await open({}, listener);
    const { socket } = openConnection(port);
    let waiting: ServerResponse | undefined;
    server.prependListener("request", (request, response) => {
      if (request.url === "/9") waiting = response;
    });
    socket.write(Array.from({ length: 9 }, (_, i) => asking(`GET /${i + 1}`)).join(""));
    await until(() => kept.length === 1 && waiting !== undefined);
    socket.destroy();
    await until(() => sockets[0]?.destroyed === true && waiting?.destroyed === true);
    kept[0]?.response.end("late");
    await settled();
    expect(paths()).toEqual(["/1"]);
  });

  test("requests behind an answer that says that it is the last are not begun", async () => {
    const { kept, listener, paths } = keeping();
    const { port } = await open({}, listener);
    const { socket, text, closed } = openConnection(port);
    socket.write(asking("GET /1") + asking("POST /2") + asking("GET /3"));
    await until(() => kept.length === 1);
    kept[0]?.response.writeHead(200, { Connection: "close" }).end("last");
    await closed;
    expect(statusesIn(text())).toEqual(["200"]);
    expect(paths()).toEqual(["/1"]);
  });

  test("an HTTP/1.0 request that waits is the last one", async () => {
    const { port } = await open({}, (request, response) => void setTimeout(() => response.end(request.url), 20));
    const { socket, text, closed } = openConnection(port);
    socket.write(`${asking("GET /1")}GET /2 HTTP/1.0\r\n\r\n`);
    await closed;
    expect(answersIn(text()).map(({ body }) => body.toString())).toEqual(["/1", "/2"]);
  });
});

describe("the bound of requests that wait", () => {
  test.each([9, 1000])("of %i requests that wait, eight are answered, the last with the end", async (more) => {
    const { kept, listener } = keeping();
    const { port } = await open({}, listener);
    const { socket, text, closed } = openConnection(port);
    socket.write(Array.from({ length: 1 + more }, (_, i) => asking(`GET /${i}`)).join(""));
    for (let i = 0; i < 9; i++) {
      await until(() => kept.length === i + 1);
      kept[i]?.response.end(String(i));
    }
    await closed;
    const answers = answersIn(text());
    expect(answers.map(({ body }) => body.toString()).join("")).toBe("012345678");
    expect(answers.map(({ fields }) => /\r\nconnection: close/i.test(fields))).toEqual([
      ...Array.from({ length: 8 }, () => false),
      true,
    ]);
    expect(kept).toHaveLength(9);
  });

  test("any number of requests is served while at most eight wait behind each answer", async () => {
    const { kept, listener } = keeping();
    const { port } = await open({}, listener);
    const { socket, text } = openConnection(port);
    for (let sent = 0; sent < 90;) {
      for (; sent < kept.length + 8; sent++) socket.write(asking(`GET /${sent}`));
      await until(() => kept.some(({ response }) => !response.writableEnded));
      kept.find(({ response }) => !response.writableEnded)?.response.end();
    }
    expect(text()).not.toMatch(/connection: close/i);
  });

  test.each([
    ["sound", asking("GET /many")],
    ["unsound", asking("GET /many", "Host: b")],
    ["expecting", asking("GET /many", "Expect: more")],
  ])("nothing more is read of a client that sends beyond the bound (%s requests)", async (_, bytes) => {
    const { kept, listener } = keeping();
    const { port, sockets } = await open({}, listener);
    const { socket } = openConnection(port);
    socket.write(asking("GET /first"));
    await until(() => kept.length === 1);
    socket.write(bytes.repeat(200_000));
    await until(() => sockets[0]?.isPaused() === true);
    const [accepted] = sockets;
    const read = accepted?.bytesRead ?? 0;
    expect(read).toBeLessThan(200_000);
    // The rest of the bytes is still with the client.
    await settled();
    expect(accepted?.bytesRead).toBe(read);
    expect(kept).toHaveLength(1);
  });

  test("30,000 requests may wait in all; a client that sends more is cut off", async () => {
    const kept: ServerResponse[] = [];
    let isAnswering = false;
    const { port, server, sockets } = await open({}, (_, response) =>
      isAnswering ? void response.end() : void kept.push(response),
    );
    let requests = 0;
    server.prependListener("request", () => requests++);
    const connections: Socket[] = [];
    const cut: number[] = [];
    while (cut.length === 0 && connections.length < 30) {
      const before = requests;
      const { socket } = openConnection(port);
      connections.push(socket);
      socket.once("close", () => cut.push(requests)).write(asking("GET /").repeat(2500));
      await until(() => cut.length > 0 || requests - before > 1000);
    }
    expect(requests).toBeGreaterThan(30_000);
    expect(connections.length).toBeLessThan(30);
    // The gateway sees that clients have left when it answers them.
    for (const socket of connections) socket.destroy();
    isAnswering = true;
    for (const response of kept) response.end();
    await until(() => sockets.every(({ destroyed }) => destroyed));
    const { socket, text, closed } = openConnection(port);
    socket.write(asking("GET /").repeat(130));
    await closed;
    expect(answersIn(text())).toHaveLength(9);
  });
});

test("a stop serves what waits on a connection, and says with the last that it ends", async () => {
  const { url, kept } = await keepingLegacy();
  const { port, server } = await listeningGateway(url);
  const { socket, text, closed } = openConnection(port);
  socket.write(asking("GET /old/1") + asking("GET /old/2") + asking("GET /old/3"));
  await until(() => kept.length > 0);
  const stopped = server.stop(3000);
  for (let i = 0; i < 3; i++) {
    await until(() => kept.length > i);
    await sleep(300);
    kept[i]?.response.end(String(i));
  }
  await closed;
  expect(await stopped).toBe(true);
  const answers = answersIn(text());
  expect(answers.map(({ body }) => body.toString())).toEqual(["0", "1", "2"]);
  expect(answers.map(({ fields }) => /\r\nconnection: close/i.test(fields))).toEqual([false, false, true]);
});
