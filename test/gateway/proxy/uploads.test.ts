import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { expectHealthy, get, httpUpstream, openProxy, request, send } from "./support.ts";
import { openConnection } from "../answer/support.ts";
import { sleep, until } from "../../support/waiting.ts";

/** A connection that has sent this. */
const client = (port: number, ...parts: (string | Buffer)[]) => {
  const connection = openConnection(port);
  for (const part of parts) connection.socket.write(part);
  return connection;
};

/** An upstream that lists the uploads that have begun, and answers when they have come. */
const taking = async () => {
  const begun: string[] = [];
  const got: { framing: string; body: Buffer }[] = [];
  const origin = await httpUpstream((req, res) => {
    if (req.url === "/healthy") {
      res.end("healthy");
      return;
    }
    begun.push(req.url ?? "");
    const chunks: Buffer[] = [];
    req.on("error", () => {});
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      got.push({
        framing: req.headers["content-length"] ?? req.headers["transfer-encoding"] ?? "none",
        body: Buffer.concat(chunks),
      });
      res.end("ok");
    });
  });
  return { origin, begun, got };
};

/** Counts the bytes of bodies that have come to the gateway. */
const counting = () => {
  let count = 0;
  return {
    count: () => count,
    observe: () => ({ chunk: (bytes: Buffer) => void (count += bytes.length), over: () => undefined }),
    /** Waits until no more bytes come, though the client, the gateway and the upstream have all had their turns. */
    still: async () => {
      for (let turns = 0, before = -1; turns < 100; before = count) {
        await sleep(1);
        turns = count === before ? turns + 1 : 0;
      }
    },
  };
};

const large = (path: string, length = 1_000_000) => request(`POST ${path}`, `Content-Length: ${length}`);

test("while uploads drip on all of their connections, a GET is answered at once", async () => {
  const { origin, begun } = await taking();
  const gateway = await openProxy(origin, { connections: 2, waiting: 6, waitTimeout: 60_000 });
  const drips = Array.from({ length: 8 }, (_, i) => client(gateway.port, large(`/${i}`), "x"));
  await until(() => gateway.uploads.semaphore.waiting === 6 && begun.length === 2);
  expect((await send(gateway.port, get("/healthy"))).body).toBe("healthy");
  expect((await send(gateway.port, large("/small", 3), "abc")).head).toMatch(/^HTTP\/1\.1 200 /);
  const more = await send(gateway.port, large("/more"), "abc");
  expect(more.head).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 1\r/);
  expect(begun).toHaveLength(3);
  for (const { socket } of drips) socket.destroy();
  await expectHealthy(gateway);
  const all = Buffer.alloc(1_000_000);
  expect((await send(gateway.port, large("/more"), all)).head).toMatch(/^HTTP\/1\.1 200 /);
});

test("a small body that drips holds no connection, and is never sent in part", async () => {
  const { origin, begun } = await taking();
  const gateway = await openProxy(origin, { connections: 2, bodyTimeout: 500 });
  const drips = Array.from({ length: 8 }, (_, i) => client(gateway.port, large(`/${i}`, 60_000), "x"));
  const drip = setInterval(() => drips.forEach(({ socket }) => socket.write("x".repeat(1000))), 50);
  onTestFinished(() => clearInterval(drip));
  expect((await send(gateway.port, large("/small", 3), "abc")).head).toMatch(/^HTTP\/1\.1 200 /);
  await until(() => drips.every(({ text }) => text() !== ""));
  for (const { text } of drips) expect(text()).toMatch(/^HTTP\/1\.1 408 [^]*Connection: close/);
  expect(begun).toEqual(["/small"]);
  await expectHealthy(gateway);
});

test.each([
  { title: "at once", first: 100 },
  { title: "after 100 kB", first: 100_000 },
])("an upload that falls below the least rate $title gets 408", async ({ first }) => {
  const { origin } = await taking();
  const gateway = await openProxy(origin, { bodyTimeout: 500 });
  const { socket, text } = client(gateway.port, large("/slow"), Buffer.alloc(first));
  // It is never silent for as long as that would be its end.
  const drip = setInterval(() => socket.write("x"), 50);
  onTestFinished(() => clearInterval(drip));
  await until(() => text() !== "");
  expect(text()).toMatch(/^HTTP\/1\.1 408 [^]*Connection: close/);
  expect(gateway.events).toMatchObject([{ kind: "slowClient", path: "/slow" }]);
  await expectHealthy(gateway);
});

test("an upload at the least rate may take longer than any silence", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { origin, got } = await taking();
  const { observe, count } = counting();
  const gateway = await openProxy(origin, { observe });
  const { socket, text } = client(gateway.port, large("/steady", 100_000));
  for (let part = 1; part <= 10; part++) {
    socket.write(Buffer.alloc(10_000));
    await until(() => count() === part * 10_000);
    vi.advanceTimersByTime(8000);
  }
  await until(() => text().startsWith("HTTP/1.1 200 "));
  expect(got.map(({ body }) => body.length)).toEqual([100_000]);
  await expectHealthy(gateway);
});

test("time in which the upstream takes nothing does not count against the client", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  let taken = 0;
  let pauses = 0;
  let resume = () => {};
  const origin = await httpUpstream((req, res) => {
    const pause = () => {
      pauses++;
      req.pause();
      resume = () => void req.resume();
    };
    req.on("data", (chunk: Buffer) => {
      taken += chunk.length;
      if (pauses === 1 && taken > 8_000_000) pause();
    });
    req.on("end", () => res.end("ok"));
    pause();
  });
  const { observe, still } = counting();
  const gateway = await openProxy(origin, { observe });
  const size = 32 * 1024 * 1024;
  const answer = send(gateway.port, large("/held", size), Buffer.alloc(size));
  for (const pause of [1, 2]) {
    await until(() => pauses === pause);
    await still();
    vi.advanceTimersByTime(60_000);
    resume();
  }
  expect((await answer).head).toMatch(/^HTTP\/1\.1 200 /);
  expect([taken, pauses]).toEqual([size, 2]);
});

test("a request that waits too long for a place gets 503, and is never sent", async () => {
  const asked: string[] = [];
  const finish: (() => void)[] = [];
  const origin = await httpUpstream((req, res) => {
    asked.push(req.url ?? "");
    if (req.url === "/healthy") res.end("healthy");
    else finish.push(() => void res.end("late"));
  });
  const gateway = await openProxy(origin, { connections: 1, waitTimeout: 200 });
  const first = [send(gateway.port, get("/first")), send(gateway.port, large("/upload"), Buffer.alloc(1_000_000))];
  await until(() => asked.length === 2);
  const [second, third] = await Promise.all([
    send(gateway.port, get("/second")),
    send(gateway.port, large("/third"), "abc"),
  ]);
  for (const { head, body } of [second, third]) {
    expect(head).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 1\r/);
    expect(JSON.parse(body)).toEqual({ detail: "Too many requests wait for the upstream." });
  }
  for (const end of finish) end();
  for (const { body } of await Promise.all(first)) expect(body).toContain("late");
  await expectHealthy(gateway);
  expect(asked.toSorted((a, b) => a.localeCompare(b))).toEqual(["/first", "/healthy", "/upload"]);
});

test("a refused upload that drips on loses its connection", async () => {
  const origin = await httpUpstream((_, res) => res.writeHead(413).end("too much"));
  const gateway = await openProxy(origin, { bodyTimeout: 500 });
  const { socket, text, closed } = client(
    gateway.port,
    large("/x").replace(/Connection: close\r\n/, ""),
    Buffer.alloc(80_000),
  );
  await until(() => text().startsWith("HTTP/1.1 413 "));
  const drip = setInterval(() => socket.write("x"), 50);
  onTestFinished(() => clearInterval(drip));
  await closed;
  expect(text()).toMatch(/^HTTP\/1\.1 413 [^]*too much/);
});

test("every body arrives byte for byte, framed as it came, and is looked at once", async () => {
  const { origin, got } = await taking();
  let seen: Buffer[] = [];
  const observe = () => ({ chunk: (bytes: Buffer) => void seen.push(Buffer.from(bytes)), over: () => undefined });
  const { port } = await openProxy(origin, { observe });
  const part = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 50 }),
    fc.integer({ min: 1, max: 90_000 }).map((length) => Buffer.alloc(length, length)),
  );
  const bodies = fc.record({
    parts: fc.array(part, { minLength: 1, maxLength: 6 }),
    isChunked: fc.boolean(),
    isOneWrite: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(bodies, async ({ parts, isChunked, isOneWrite }) => {
      seen = [];
      got.splice(0);
      const body = Buffer.concat(parts);
      const framed = isChunked
        ? [
            ...parts.map((each) =>
              Buffer.concat([Buffer.from(`${each.length.toString(16)}\r\n`), each, Buffer.from("\r\n")]),
            ),
            Buffer.from("0\r\n\r\n"),
          ]
        : parts.map((each) => Buffer.from(each));
      const head = request("POST /", isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${body.length}`);
      const answer = await send(port, head, ...(isOneWrite ? [Buffer.concat(framed)] : framed));
      expect(answer.head).toMatch(/^HTTP\/1\.1 200 /);
      expect(got).toEqual([{ framing: isChunked ? "chunked" : String(body.length), body }]);
      expect(Buffer.concat(seen).equals(body)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("an answer that breaks with its head, within the upload, is seen to be cut", async () => {
  const origin = await httpUpstream(({ socket }) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
  });
  const gateway = await openProxy(origin);
  const { text } = await send(gateway.port, request("PUT /", "Content-Length: 200000"), Buffer.alloc(65_536));
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/);
});
