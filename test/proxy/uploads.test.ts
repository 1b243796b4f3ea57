import { type Socket, connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { expectHealthy, get, httpUpstream, openGateway, request, send } from "./support.ts";
import { until } from "../support/waiting.ts";

/** A connection that sends what it is told to, and collects what comes. */
const client = (
  port: number,
  ...parts: (string | Buffer)[]
): { socket: Socket; text: () => string; isOpen: () => boolean } => {
  let text = "";
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  for (const part of parts) socket.write(part);
  onTestFinished(() => void socket.destroy());
  return { socket, text: () => text, isOpen: () => !socket.closed };
};

/** An upstream that tells which uploads have begun, and answers when they have come. */
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
    observe: () => ({ chunk: (bytes: Buffer) => void (count += bytes.length), over: () => undefined }),
    received: (bytes: number) => until(() => count === bytes),
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

test("while more uploads drip than there are places, a GET is answered at once", async () => {
  const { origin, begun } = await taking();
  const gateway = await openGateway(origin, { connections: 2 });
  const drips = Array.from({ length: 8 }, (_, i) => client(gateway.port, large(`/${i}`), "x"));
  await until(() => drips.every(({ socket }) => socket.bytesWritten > 0));
  for (let i = 0; i < 3; i++) for (const { socket } of drips) socket.write("x");
  expect((await send(gateway.port, get("/healthy"))).body).toBe("healthy");
  expect(begun).toEqual([]);
  for (const { socket } of drips) socket.destroy();
  await expectHealthy(gateway);
});

test("large uploads take half of the places at most, and a GET finds another", async () => {
  const { origin, begun } = await taking();
  const gateway = await openGateway(origin, { connections: 4, waitTimeout: 2000 });
  const half = Buffer.alloc(100_000);
  const uploads = Array.from({ length: 4 }, (_, i) => client(gateway.port, large(`/${i}`), half));
  await until(() => begun.length === 2 && gateway.upstream.semaphore.waiting === 2);
  expect((await send(gateway.port, get("/healthy"))).body).toBe("healthy");
  await until(() => uploads.filter(({ text }) => /^HTTP\/1\.1 503 [^]*Retry-After: /.test(text())).length === 2);
  expect(begun).toHaveLength(2);
  expect(gateway.events).toMatchObject([{ kind: "overloaded" }, { kind: "overloaded" }]);
  for (const { socket } of uploads) socket.destroy();
  await expectHealthy(gateway);
});

test("while more large uploads wait than may wait, a burst of GETs is answered", async () => {
  const { origin } = await taking();
  const gateway = await openGateway(origin, { connections: 4, waiting: 10 });
  const uploads = Array.from({ length: 20 }, (_, i) => client(gateway.port, large(`/${i}`), Buffer.alloc(100_000)));
  await until(() => uploads.filter(({ text }) => text().startsWith("HTTP/1.1 503 ")).length >= 8);
  const answers = await Promise.all(Array.from({ length: 10 }, () => send(gateway.port, get("/healthy"))));
  expect(answers.map(({ body }) => body)).toEqual(Array.from({ length: 10 }, () => "healthy"));
  for (const { socket } of uploads) socket.destroy();
  await expectHealthy(gateway);
});

test.each([
  { title: "before it takes a place", first: 100 },
  { title: "while it holds one", first: 100_000 },
])("an upload that falls below the least rate $title gets 408", async ({ first }) => {
  const { origin } = await taking();
  const gateway = await openGateway(origin, { bodyTimeout: 500, uploads: { minRate: 10_000, memory: 1e6 } });
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
  const { origin, got } = await taking();
  const gateway = await openGateway(origin, { bodyTimeout: 3000, uploads: { minRate: 1000, memory: 1e6 } });
  const { socket, text } = client(gateway.port, large("/steady", 30_000));
  // Twice as long as it may be silent, had it to send nothing.
  for (let i = 0; i < 10; i++) {
    socket.write(Buffer.alloc(3000));
    // oxlint-disable-next-line no-await-in-loop -- its pace
    await sleep(600);
  }
  await until(() => text().startsWith("HTTP/1.1 200 "));
  expect(got.map(({ body }) => body.length)).toEqual([30_000]);
  await expectHealthy(gateway);
});

test("time in which the upstream takes nothing does not count against the client", async () => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
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
  const gateway = await openGateway(origin, { observe, bodyTimeout: 1500, uploads: { minRate: 1e9, memory: 1e6 } });
  const size = 32 * 1024 * 1024;
  const answer = send(gateway.port, large("/held", size), Buffer.alloc(size));
  for (const pause of [1, 2]) {
    await until(() => pauses === pause);
    await still();
    vi.advanceTimersByTime(1000);
    resume();
  }
  expect((await answer).head).toMatch(/^HTTP\/1\.1 200 /);
  expect([taken, pauses]).toEqual([size, 2]);
});

test("a request that waits too long for a place gets 503, and is never sent", async () => {
  const asked: string[] = [];
  let finish = () => {};
  const origin = await httpUpstream((req, res) => {
    asked.push(req.url ?? "");
    if (req.url === "/healthy") res.end("healthy");
    else finish = () => void res.end("late");
  });
  const gateway = await openGateway(origin, { connections: 1, waitTimeout: 200 });
  const first = send(gateway.port, get("/first"));
  await until(() => asked.length === 1);
  const [second, third] = await Promise.all([
    send(gateway.port, get("/second")),
    send(gateway.port, request("POST /third", "Content-Length: 3"), "abc"),
  ]);
  for (const { head, body } of [second, third]) {
    expect(head).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 1\r/);
    expect(JSON.parse(body)).toEqual({ detail: "Too many requests wait for the upstream." });
  }
  finish();
  expect((await first).body).toContain("late");
  await expectHealthy(gateway);
  expect(asked).toEqual(["/first", "/healthy"]);
});

const crowded = { detail: "Too many bodies are being received." };

test("where bodies fill the memory, the slowest unfinished one gets 503, no newcomer", async () => {
  const { origin, got } = await taking();
  const { observe, received } = counting();
  const gateway = await openGateway(origin, {
    observe,
    bodyTimeout: 120_000,
    uploads: { minRate: 1, memory: 100_000 },
  });
  const stalled = [0, 1, 2].map((i) => client(gateway.port, large(`/stalled${i}`, 60_000), Buffer.alloc(30_000)));
  await received(90_000);
  // The first one goes on: the second one is the slowest now.
  stalled[0]?.socket.write("x");
  await received(90_001);
  const newcomer = await send(gateway.port, large("/newcomer", 35_000), Buffer.alloc(35_000));
  expect(newcomer.head).toMatch(/^HTTP\/1\.1 200 /);
  await until(() => stalled[1]?.text() !== "" || stalled[2]?.text() !== "");
  expect(stalled[0]?.text()).toBe("");
  const refused = stalled.filter(({ text }) => text() !== "");
  expect(refused).toHaveLength(1);
  expect(refused[0]?.text()).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 1\r/);
  expect(JSON.parse(refused[0]?.text().split("\r\n\r\n")[1] ?? "")).toEqual(crowded);
  expect(gateway.events).toMatchObject([{ kind: "crowded" }]);
  stalled[0]?.socket.write(Buffer.alloc(29_999));
  await until(() => stalled[0]?.text().startsWith("HTTP/1.1 200 ") === true);
  expect(got.map(({ body }) => body.length)).toEqual([35_000, 60_000]);
  for (const { socket } of stalled) socket.destroy();
  await expectHealthy(gateway);
});

test("the client that holds more than half of the memory loses a body first", async () => {
  const { origin } = await taking();
  const { observe, received } = counting();
  const gateway = await openGateway(origin, {
    observe,
    bodyTimeout: 120_000,
    trusted: () => true,
    uploads: { minRate: 1, memory: 100_000 },
  });
  const from = (address: string, length: number) =>
    client(
      gateway.port,
      request("POST /", `X-Forwarded-For: ${address}`, "Content-Length: 60000"),
      Buffer.alloc(length),
    );
  const other = from("192.0.2.1", 20_000);
  await received(20_000);
  const many = [from("192.0.2.2", 30_000), from("192.0.2.2", 30_000)];
  await received(80_000);
  const newcomer = from("192.0.2.3", 45_000);
  await until(() => many.some(({ text }) => text().startsWith("HTTP/1.1 503 ")));
  expect([other, ...many, newcomer].filter(({ text }) => text() === "")).toHaveLength(3);
  expect(other.text()).toBe("");
  newcomer.socket.write(Buffer.alloc(15_000));
  await until(() => newcomer.text().startsWith("HTTP/1.1 200 "));
});

test("bodies of up to 4 KiB need no place in the memory for bodies", async () => {
  const { origin, got } = await taking();
  const gateway = await openGateway(origin, { uploads: { minRate: 1, memory: 1000 } });
  const small = await send(gateway.port, large("/small", 4096), Buffer.alloc(4096));
  expect(small.head).toMatch(/^HTTP\/1\.1 200 /);
  const larger = await send(gateway.port, large("/larger", 4097), Buffer.alloc(4097));
  expect(larger.head).toMatch(/^HTTP\/1\.1 503 [^]*Retry-After: 1\r/);
  expect(JSON.parse(larger.body)).toEqual(crowded);
  expect(got).toHaveLength(1);
  await expectHealthy(gateway);
});

test("bodies that are whole keep their memory while they wait for the upstream", async () => {
  const finish: (() => void)[] = [];
  const origin = await httpUpstream((req, res) => {
    if (req.url === "/healthy") res.end("healthy");
    else finish.push(() => res.end("ok"));
  });
  const gateway = await openGateway(origin, { connections: 1, uploads: { minRate: 1, memory: 70_000 } });
  const first = send(gateway.port, get("/first"));
  await until(() => finish.length === 1);
  const whole = send(gateway.port, large("/whole", 40_000), Buffer.alloc(40_000));
  await until(() => gateway.upstream.semaphore.waiting === 1);
  const refused = await send(gateway.port, large("/refused", 40_000), Buffer.alloc(40_000));
  expect(refused.head).toMatch(/^HTTP\/1\.1 503 /);
  finish[0]?.();
  await until(() => finish.length === 2);
  finish[1]?.();
  expect((await whole).head).toMatch(/^HTTP\/1\.1 200 /);
  await first;
  await expectHealthy(gateway);
});

test("a client that leaves while its body is collected gives its memory back", async () => {
  const { origin, begun } = await taking();
  const { observe, received } = counting();
  const gateway = await openGateway(origin, { observe, uploads: { minRate: 1, memory: 40_000 } });
  for (let i = 0; i < 3; i++) {
    const { socket } = client(gateway.port, large("/gone", 40_000), Buffer.alloc(30_000));
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await received((i + 1) * 30_000);
    socket.destroy();
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await until(() => gateway.events.length === i + 1);
  }
  expect(gateway.events.map(({ kind }) => kind)).toEqual(["aborted", "aborted", "aborted"]);
  expect((await send(gateway.port, large("/whole", 40_000), Buffer.alloc(40_000))).head).toMatch(/^HTTP\/1\.1 200 /);
  expect(begun).toEqual(["/whole"]);
});

test("a body byte by byte costs less than 4 KiB more than its size", async () => {
  const { origin, got } = await taking();
  const gateway = await openGateway(origin, { uploads: { minRate: 1, memory: 8192 } });
  const bytes = Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 251));
  const chunks = Buffer.concat([...bytes].map((byte) => Buffer.from([49, 13, 10, byte, 13, 10])));
  const { head } = await send(gateway.port, request("POST /", "Transfer-Encoding: chunked"), chunks, "0\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  expect(got).toEqual([{ framing: "chunked", body: bytes }]);
});

test("a refused upload that drips on loses its connection", async () => {
  const origin = await httpUpstream((_, res) => res.writeHead(413).end("too much"));
  const gateway = await openGateway(origin, { bodyTimeout: 500, uploads: { minRate: 10_000, memory: 1e6 } });
  const { socket, text, isOpen } = client(
    gateway.port,
    large("/x").replace(/Connection: close\r\n/, ""),
    Buffer.alloc(80_000),
  );
  await until(() => text().startsWith("HTTP/1.1 413 "));
  const drip = setInterval(() => socket.write("x"), 50);
  onTestFinished(() => clearInterval(drip));
  await until(() => !isOpen());
  expect(isOpen()).toBe(false);
});

test("Expect: 100-continue is answered before a place is taken, for a large body too", async () => {
  const { origin, got } = await taking();
  const gateway = await openGateway(origin);
  const { socket, text } = client(gateway.port, request("PUT /", "Expect: 100-continue", "Content-Length: 200000"));
  await until(() => text() === "HTTP/1.1 100 Continue\r\n\r\n");
  expect(gateway.upstream.semaphore.running).toBe(0);
  socket.write(Buffer.alloc(200_000));
  await until(() => text().includes("HTTP/1.1 200 OK"));
  expect(got).toMatchObject([{ framing: "200000" }]);
});

test("every body arrives byte for byte, framed as it came, and is looked at once", async () => {
  const { origin, got } = await taking();
  let seen: Buffer[] = [];
  const observe = () => ({ chunk: (bytes: Buffer) => void seen.push(Buffer.from(bytes)), over: () => undefined });
  const { port } = await openGateway(origin, { observe });
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
  const gateway = await openGateway(origin);
  const { text } = await send(gateway.port, request("PUT /", "Content-Length: 200000"), Buffer.alloc(65_536));
  expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n$/);
});
