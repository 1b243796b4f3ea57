import type { Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type AskOptions, type UpstreamReply, ask } from "../../src/upstream/ask.ts";
import { UpstreamFailure } from "../../src/upstream/failure.ts";
import { type Upstream, type UpstreamSettings, openUpstream } from "../../src/upstream/upstream.ts";
import { healthy, httpUpstream, rawUpstream } from "../proxy/support.ts";
import { until } from "../support/waiting.ts";

const open = (origin: string, settings: Partial<UpstreamSettings> = {}): Upstream => {
  const times = { connectTimeout: 2000, headersTimeout: 8000, bodyTimeout: 8000 };
  const upstream = openUpstream({ origin, connections: 2, waiting: 10, ...times, ...settings });
  onTestFinished(() => upstream.pool.destroy());
  return upstream;
};

const get = (upstream: Upstream, path: string, options: Partial<AskOptions> = {}): Promise<UpstreamReply> =>
  ask(upstream, { method: "GET", path, headers: {}, maxBytes: 1000, totalTimeout: 8000, ...options });

/** The failure that something ends with; anything else fails the test. */
const failure = async (asked: Promise<unknown>): Promise<UpstreamFailure> => {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof UpstreamFailure)) throw new Error(`no UpstreamFailure: ${String(error)}`);
  return error;
};

const expectHealthy = async (upstream: Upstream): Promise<void> => {
  await until(() => upstream.semaphore.running === 0 && upstream.semaphore.waiting === 0);
  expect(String((await get(upstream, "/healthy")).body)).toBe("healthy");
};

const nasty = (answer: (socket: Socket, attempt: number) => void): ReturnType<typeof rawUpstream> => {
  let attempt = 0;
  return rawUpstream((socket, text) => {
    if (text.includes("/healthy")) socket.write(healthy);
    else answer(socket, ++attempt);
  });
};

test("an answer is collected with status, type and headers, without content coding", async () => {
  const origin = await httpUpstream((req, res) => {
    res.writeHead(412, { "content-type": "application/json", "x-a": "1" });
    res.write(`${req.method} ${req.url} ${req.headers["accept-encoding"]} ${String(req.headers["x-b"])} `);
    req.pipe(res);
  });
  const upstream = open(origin);
  const reply = await get(upstream, "/a?b=c", { method: "POST", headers: { "X-B": "2" }, body: "data" });
  expect(reply).toMatchObject({ status: 412, contentType: "application/json" });
  expect(reply.headers["x-a"]).toBe("1");
  expect(String(reply.body)).toBe("POST /a?b=c identity 2 data");
  const listed = await get(upstream, "/", { headers: ["X-B", "3"] });
  expect(String(listed.body)).toBe("GET / identity 3 ");
});

test.each([
  { title: "no type", text: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", body: "a" },
  { title: "an empty 500", text: "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", body: "" },
  { title: "a 204", text: "HTTP/1.1 204 No\r\n\r\n", body: "" },
  {
    title: "hints first",
    text: "HTTP/1.1 103 Hints\r\nX: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb",
    body: "b",
  },
  { title: "identity", text: "HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 1\r\n\r\nc", body: "c" },
])("$title is an answer", async ({ text, body }) => {
  const { origin } = await nasty((socket) => socket.write(text));
  const reply = await get(open(origin), "/");
  expect(reply.contentType).toBe("");
  expect(String(reply.body)).toBe(body);
});

const ok = "HTTP/1.1 200 OK\r\n";
test.each([
  { title: "a body that says it is too large", text: `${ok}Content-Length: 1001\r\n\r\n`, kind: "tooLarge" },
  {
    title: "a body that is",
    text: `${ok}Transfer-Encoding: chunked\r\n\r\n3e9\r\n${"a".repeat(1001)}`,
    kind: "tooLarge",
  },
  {
    title: "a body shorter than its length",
    text: `${ok}Content-Length: 9\r\nConnection: close\r\n\r\nhalf`,
    kind: "broken",
  },
  { title: "a chunked body cut off", text: `${ok}Transfer-Encoding: chunked\r\n\r\n9\r\nhalf`, kind: "broken" },
  {
    title: "an encoding not asked for",
    text: `${ok}Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\na`,
    kind: "broken",
  },
  { title: "no HTTP", text: "<html>SECRET", kind: "broken" },
  { title: "half a status line", text: "HTTP/1.1 20", kind: "broken" },
] as const)("$title: $kind", async ({ text, kind }) => {
  const { origin, requests } = await nasty((socket) => socket.end(text));
  const upstream = open(origin);
  const error = await failure(get(upstream, "/a/b?api_key=SECRET"));
  expect(error.kind).toBe(kind);
  expect(error.message).toMatch(/: GET \/a\/b$/);
  expect(JSON.stringify([error.stack, error.cause, String(error.cause)])).not.toContain("SECRET");
  expect(requests).toHaveLength(1);
  await expectHealthy(upstream);
});

test("a body cut by a reset does not look whole", async () => {
  const { origin } = await nasty((socket) => {
    socket.write(`${ok}Connection: close\r\n\r\nhalf`);
    setTimeout(() => socket.resetAndDestroy(), 100);
  });
  expect((await failure(get(open(origin), "/"))).kind).toBe("broken");
});

test("a body of exactly the bytes allowed is taken", async () => {
  const { origin } = await nasty((socket) => socket.write(`${ok}Content-Length: 1000\r\n\r\n${"a".repeat(1000)}`));
  expect((await get(open(origin), "/")).body).toHaveLength(1000);
});

test("the total time covers slow and silent upstreams, and the queue", async () => {
  const { origin, requests } = await nasty((socket, attempt) => {
    if (attempt > 1) return;
    socket.write(`${ok}Content-Length: 900\r\n\r\n`);
    const timer = setInterval(() => socket.write("a"), 20);
    socket.on("close", () => clearInterval(timer));
  });
  const upstream = open(origin, { connections: 2 });
  // The two in the queue are over first: a connection that becomes free has no request to take.
  const failures = [400, 400, 200, 200].map((totalTimeout, i) => failure(get(upstream, `/${i}`, { totalTimeout })));
  for (const { kind } of await Promise.all(failures)) expect(kind).toBe("timeout");
  expect(requests).toHaveLength(2);
  await expectHealthy(upstream);
});

test("the total time covers connecting", async () => {
  // TEST-NET-1 (RFC 5737): packets to it vanish or are refused.
  const upstream = open("http://192.0.2.1:81", { connectTimeout: 120_000 });
  const begun = Date.now();
  const { kind } = await failure(get(upstream, "/", { totalTimeout: 300 }));
  expect(["timeout", "unreachable", "broken"]).toContain(kind);
  expect(Date.now() - begun).toBeLessThan(60_000);
});

test("a closed port: unreachable", async () => {
  expect((await failure(get(open("http://127.0.0.1:9"), "/"))).kind).toBe("unreachable");
});

test("more than may wait: overloaded at once; waiting requests are served in order", async () => {
  const held: (() => void)[] = [];
  const { origin, requests } = await nasty((socket) => held.push(() => socket.write(healthy)));
  const upstream = open(origin, { connections: 1, waiting: 2 });
  const served = ["/1", "/2", "/3"].map((path) => get(upstream, path));
  expect((await failure(get(upstream, "/4"))).kind).toBe("overloaded");
  for (let i = 0; i < 3; i++) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await until(() => held.length === i + 1);
    held[i]?.();
  }
  await Promise.all(served);
  expect(requests.map((text) => text.split(" ")[1])).toEqual(["/1", "/2", "/3"]);
  await expectHealthy(upstream);
});

test("a signal gives a request up before, while it waits and while it runs", async () => {
  const { origin, requests } = await nasty(() => {});
  const upstream = open(origin, { connections: 1 });
  expect((await failure(get(upstream, "/before", { signal: AbortSignal.abort() }))).kind).toBe("aborted");
  const first = new AbortController();
  const second = new AbortController();
  const runs = failure(get(upstream, "/runs", { signal: first.signal }));
  const waits = failure(get(upstream, "/waits", { signal: second.signal }));
  await until(() => requests.length === 1);
  second.abort();
  expect((await waits).kind).toBe("aborted");
  first.abort();
  expect((await runs).kind).toBe("aborted");
  expect(requests).toHaveLength(1);
  await expectHealthy(upstream);
});

test.each([
  { method: "GET", nasty: "reset", times: 2, end: 200 },
  { method: "GET", nasty: "close", times: 2, end: 200 },
  { method: "GET", nasty: "one byte", times: 1, end: "broken" },
  { method: "GET", nasty: "silence", times: 1, end: "timeout" },
  { method: "POST", nasty: "reset", times: 1, end: "broken" },
  { method: "POST", nasty: "close", times: 1, end: "broken" },
])("$method is sent $times x where a kept connection ends by $nasty", async ({ method, nasty: how, times, end }) => {
  const { origin, requests } = await nasty((socket, attempt) => {
    if (attempt === 2) socket.write(healthy);
    else if (how === "reset") socket.resetAndDestroy();
    else if (how === "close") socket.end();
    else if (how === "one byte") socket.end("H");
  });
  const upstream = open(origin, { headersTimeout: 300 });
  await expectHealthy(upstream);
  const asked = get(upstream, "/asked", method === "POST" ? { method, body: "x" } : {});
  expect(times === 2 ? (await asked).status : (await failure(asked)).kind).toBe(end);
  expect(requests.filter((text) => text.includes("/asked"))).toHaveLength(times);
  await expectHealthy(upstream);
});

test("what cannot be sent is a failure, not a throw", async () => {
  const upstream = open("http://127.0.0.1:9");
  expect((await failure(get(upstream, "no slash"))).kind).toBe("broken");
  expect((await failure(get(upstream, "/", { headers: { "X-A": "a\nb" } }))).kind).toBe("broken");
  expect(upstream.semaphore.running).toBe(0);
});

test("interim answers without end are no answer", async () => {
  const { origin } = await nasty((socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write("HTTP/1.1 102 Processing\r\n\r\n".repeat(500)));
      if (!socket.destroyed) socket.once("drain", more);
    };
    more();
  });
  const upstream = open(origin);
  expect((await failure(get(upstream, "/endless"))).kind).toBe("broken");
  await expectHealthy(upstream);
});

test("a request that waits too long for a place is given up as overloaded", async () => {
  const { origin, requests } = await nasty(() => {});
  const upstream = open(origin, { connections: 1, waitTimeout: 100 });
  const first = failure(get(upstream, "/first", { totalTimeout: 500 }));
  expect((await failure(get(upstream, "/second"))).kind).toBe("overloaded");
  expect((await first).kind).toBe("timeout");
  await expectHealthy(upstream);
  expect(requests.filter((text) => text.includes("/second"))).toEqual([]);
});

test("closing waits for what is in flight and then refuses", async () => {
  const sockets: Socket[] = [];
  const { origin, requests } = await nasty((socket) => sockets.push(socket));
  const upstream = open(origin);
  const last = get(upstream, "/last");
  await until(() => requests.length === 1);
  const closed = upstream.close();
  for (const socket of sockets) socket.write(healthy);
  expect((await last).status).toBe(200);
  await closed;
  expect((await failure(get(upstream, "/after"))).kind).toBe("unreachable");
});
