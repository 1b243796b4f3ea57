import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { rawUpstream } from "../proxy/support.ts";
import { listeningGateway } from "../http/support.ts";
import { exchange, expectDetail, keys, measures, questions } from "./support.ts";

const ok = (text: string, ...headers: string[]) =>
  [`HTTP/1.1 200 OK`, `Content-Length: ${text.length}`, ...headers, "", text].join("\r\n");

type Trouble = {
  name: string;
  /** What the legacy server does with a connection that has sent a request. */
  does: (socket: import("node:net").Socket) => unknown;
  status: number;
  /** How often a GET is sent; a POST is always sent once. */
  gets?: number;
  environment?: Record<string, string>;
  /** Only for the first request, because undici's clock for these times is coarse. */
  once?: true;
};

const troubles: Trouble[] = [
  {
    name: "says nothing",
    does: () => undefined,
    status: 504,
    // The second connection is for the background request after the lost write, which takes its time as well.
    environment: { TOTAL_TIMEOUT_MS: "300", MAX_CONNECTIONS: "2" },
  },
  {
    name: "falls silent in its body",
    does: (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"),
    status: 504,
    environment: { BODY_TIMEOUT_MS: "150" },
    once: true,
  },
  { name: "resets before a byte", does: (socket) => socket.resetAndDestroy(), status: 502, gets: 2 },
  { name: "closes before a byte", does: (socket) => socket.end(), status: 502, gets: 2 },
  {
    name: "resets within the status line",
    does: (socket) => socket.write("HTTP/1.1 2", () => socket.resetAndDestroy()),
    status: 502,
  },
  {
    name: "resets after its headers",
    does: (socket) => socket.write("HTTP/1.1 200 OK\r\nA: b\r\n\r\n", () => socket.resetAndDestroy()),
    status: 502,
  },
  {
    name: "breaks off a length",
    does: (socket) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n${measures}`),
    status: 502,
  },
  {
    name: "breaks off chunks",
    does: (socket) =>
      socket.end(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${measures.length.toString(16)}\r\n${measures}\r\n`,
      ),
    status: 502,
  },
  {
    name: "resets a body without a length",
    does: (socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${measures}`, () => socket.resetAndDestroy()),
    status: 502,
  },
  {
    name: "declares too much",
    does: (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{"),
    status: 502,
    environment: { MAX_REPLY_BYTES: "2048" },
  },
  {
    name: "sends too much",
    does: (socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n{"a":"${"x".repeat(5000)}"}`),
    status: 502,
    environment: { MAX_REPLY_BYTES: "2048" },
  },
  {
    name: "compresses",
    does: (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n");
      socket.end(gzipSync(measures));
    },
    status: 502,
  },
  { name: "speaks no HTTP", does: (socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n\r\n"), status: 502 },
  {
    name: "dies empty",
    does: (socket) => socket.write("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"),
    status: 502,
  },
  {
    name: "is an HTML page in front",
    does: (socket) => socket.write(ok("<html><p>hi</p></html>").replace("200 OK", "503 Busy")),
    status: 502,
  },
  {
    name: "shows HTML",
    does: (socket) => socket.write(ok("<html><p>Not Found</p></html>", "Content-Type: text/html")),
    status: 502,
    gets: 2,
  },
  {
    name: "redirects",
    does: (socket) => socket.write(ok("", "Location: http://127.0.0.1:1/").replace("200 OK", "302 Found")),
    status: 502,
    gets: 2,
  },
  { name: "sends another resource", does: (socket) => socket.write(ok('{"other":{"secret":1}}')), status: 502 },
  {
    name: "sends bytes that are no text",
    does: (socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
      socket.write(Buffer.from([0x7b, 0xff, 0x7d]));
    },
    status: 502,
    gets: 2,
  },
];

describe("a legacy that", () => {
  test.each(troubles)("$name: $status", async ({ does, status, gets = 1, environment = {}, once }) => {
    const { origin, requests } = await rawUpstream(does);
    // With one connection, a leaked place shows at the next request.
    const { port, observer } = await listeningGateway(origin, { MAX_CONNECTIONS: "1", ...environment });
    for (const [method, question] of once ? questions.slice(0, 1) : questions) {
      const before = requests.length;
      const answer = await exchange(port, ...question);
      expectDetail(answer, status);
      expect(answer.head + answer.body).not.toMatch(new RegExp(`${keys.unknown}|secret|127\\.0\\.0\\.1`, "i"));
      // After a lost write, the gateway verifies the key in the background.
      const sent = requests.slice(before).filter((one) => one.startsWith(`${method} `));
      expect([method, sent.length]).toEqual([method, method === "GET" ? gets : 1]);
    }
    expect(Object.keys(observer.counts())).not.toEqual([]);
  });
});
