import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { rawUpstream } from "../proxy/support.ts";
import { listeningGateway } from "../http/support.ts";
import { exchange, expectDetail, keys, measures, questions } from "./support.ts";

const ok = (text: string, ...headers: string[]) =>
  [`HTTP/1.1 200 OK`, `Content-Length: ${text.length}`, ...headers, "", text].join("\r\n");

/** Writes this again and again, until the connection is closed. */
const endlessly =
  (text: string, ms: number, first = "") =>
  (socket: Socket) => {
    socket.write(first);
    const more = setInterval(() => socket.write(text), ms);
    socket.once("close", () => clearInterval(more));
  };

/** `gets`: how often a GET is sent; a POST is always sent once. `isSlow`: its time may be over before it is sent. */
type Trouble = [
  name: string,
  status: 502 | 503 | 504,
  does: (socket: Socket) => unknown,
  more?: { gets?: number; isSlow?: boolean; environment?: Record<string, string> },
];
// A second connection is for the background request after the lost write, which takes its time as well.
const slow = { isSlow: true, environment: { TOTAL_TIMEOUT_MS: "300", MAX_CONNECTIONS: "2" } };
const few = { environment: { MAX_REPLY_BYTES: "2048" } };

const troubles: Trouble[] = [
  ["says nothing", 504, () => undefined, slow],
  ["drips", 504, endlessly(" ", 60, "HTTP/1.1 200 OK\r\n\r\n"), slow],
  [
    "falls silent in its body",
    504,
    (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"),
    { environment: { BODY_TIMEOUT_MS: "150", MAX_CONNECTIONS: "2" } },
  ],
  ["resets before a byte", 502, (socket) => socket.resetAndDestroy(), { gets: 2 }],
  ["closes before a byte", 502, (socket) => socket.end(), { gets: 2 }],
  ["resets within the status line", 502, (socket) => socket.write("HTTP/1.1 2", () => socket.resetAndDestroy())],
  [
    "resets after its headers",
    502,
    (socket) => socket.write("HTTP/1.1 200 OK\r\nA: b\r\n\r\n", () => socket.resetAndDestroy()),
  ],
  ["breaks off a length", 502, (socket) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n${measures}`)],
  [
    "breaks off chunks",
    502,
    (socket) => socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n38\r\n${measures}\r\n`),
  ],
  [
    "resets a body without a length",
    502,
    (socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${measures}`, () => socket.resetAndDestroy()),
  ],
  ["declares too much", 502, (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{"), few],
  ["sends too much", 502, (socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n{"a":"${"x".repeat(5000)}"}`), few],
  ["sends interim answers without end", 502, endlessly("HTTP/1.1 102 Processing\r\n\r\n".repeat(9), 1)],
  [
    "compresses",
    502,
    (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n");
      socket.end(gzipSync(measures));
    },
  ],
  ["speaks no HTTP", 502, (socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n\r\n")],
  ["dies empty", 502, (socket) => socket.write("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")],
  [
    "has no room, as its front says",
    503,
    (socket) => socket.write(ok("<html><p>hi</p></html>").replace("200 OK", "503 Busy")),
  ],
  ["shows HTML", 502, (socket) => socket.write(ok("<html><p>Not Found</p></html>", "Content-Type: text/html"))],
  ["redirects", 502, (socket) => socket.write(ok("", "Location: http://127.0.0.1:1/").replace("200 OK", "302 Found"))],
  ["sends a document with a 404", 502, (socket) => socket.write(ok(measures).replace("200 OK", "404 Not Found"))],
  ["sends another resource", 502, (socket) => socket.write(ok('{"other":{"secret":1}}'))],
  [
    "sends bytes that are no text",
    502,
    (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
      socket.write(Buffer.from([0x7b, 0xff, 0x7d]));
    },
    { gets: 2 },
  ],
];

test.each(troubles)("a legacy that %s: %i", async (_, status, does, { gets = 1, isSlow, environment } = {}) => {
  const { origin, requests } = await rawUpstream(does);
  // With one connection, a leaked place shows at the next request.
  const { port, observer } = await listeningGateway(origin, { MAX_CONNECTIONS: "1", ...environment });
  for (const [method, question] of questions) {
    const before = requests.length;
    const answer = await exchange(port, ...question);
    expectDetail(answer, status);
    expect(answer.head + answer.body).not.toMatch(new RegExp(`${keys.unknown}|secret|127\\.0\\.0\\.1`, "i"));
    // After a lost write, the gateway verifies the key in the background.
    const sent = requests.slice(before).filter((line) => line.startsWith(`${method} `)).length;
    const expected = method === "GET" ? gets : 1;
    expect([method, sent]).toEqual([method, isSlow ? Math.min(sent, 1) : expected]);
  }
  expect(Object.keys(observer.counts())).not.toEqual([]);
});

test.each([
  ["without a type", ok(measures)],
  ["in the coding identity", ok(measures, "Content-Encoding: identity")],
  ["after a provisional one", `HTTP/1.1 103 Hints\r\nX: 1\r\n\r\n${ok(measures)}`],
  ["of just as many bytes as are allowed", ok(measures.padEnd(2048))],
])("an answer %s is read", async (_, text) => {
  const { origin } = await rawUpstream((socket) => socket.write(text));
  const { port } = await listeningGateway(origin, { MAX_REPLY_BYTES: "2048" });
  expect((await exchange(port, ...questions[0][1])).body).toBe('["kappa"]');
});
