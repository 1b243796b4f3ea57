import type { Socket } from "node:net";
import { type Attack, allHold, atMost, holds } from "../lib/attack.ts";
import { ask, openSocket } from "../lib/client.ts";
import type { Program } from "../../support/program.ts";
import { holdsWithin, sleep } from "../../support/waiting.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const H = "Host: h\r\n";

/** The upstream's reaction to one request. */
const upstreams: Record<string, (socket: Socket) => void> = {
  "wrong length": (socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok"),
  "bad chunk": (socket) => socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
  "reset inside": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok");
    setTimeout(() => socket.resetAndDestroy(), 20);
  },
  "end inside": (socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok"),
  garbage: (socket) => socket.write("\0\x01\x02 garbage\r\n\r\n"),
  "1xx first": (socket) => socket.write(`${"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n".repeat(5)}${OK}`),
  "half an error": (socket) =>
    socket.write("HTTP/1.1 412 P\r\nContent-Type: text/xml\r\nContent-Length: 20\r\n\r\n<oml:error><oml:code"),
  "two answers": (socket) => socket.write(OK + OK),
  "long head": (socket) => socket.write(OK.replace("\r\n\r\n", `\r\nX: ${"b".repeat(70_000)}\r\n\r\n`)),
  "8 MB": (socket) => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 8000000\r\n\r\n${"x".repeat(8_000_000)}`),
};

/** A read of the legacy interface. */
const old = (query: string): string => `GET /api/v1/json/data/61${query} HTTP/1.1\r\n${H}\r\n`;

/** The bytes that the client sends, and how it leaves: after so many ms, by a half-close, or not at all. */
const clients: Record<string, [bytes: string, leaves?: number | "halfClose"]> = {
  GET: [`GET /x HTTP/1.1\r\n${H}\r\n`],
  HEAD: [`HEAD /x HTTP/1.1\r\n${H}\r\n`],
  POST: [`POST /x HTTP/1.1\r\n${H}Content-Length: 2\r\n\r\nhi`],
  "POST in chunks": [`POST /x HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`],
  "unfinished POST": [`POST /x HTTP/1.1\r\n${H}Content-Length: 5\r\n\r\nhi`],
  "unfinished POST, leaves": [`POST /x HTTP/1.1\r\n${H}Content-Length: 5\r\n\r\nhi`, 30],
  "unfinished POST, half-closes": [`POST /x HTTP/1.1\r\n${H}Content-Length: 5\r\n\r\nhi`, "halfClose"],
  "bad chunk": [`POST /x HTTP/1.1\r\n${H}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\nzz\r\n`],
  "GET, leaves at once": [`GET /x HTTP/1.1\r\n${H}\r\n`, 0],
  "GET, leaves": [`GET /x HTTP/1.1\r\n${H}\r\n`, 5],
  "12 pipelined": [`GET /x HTTP/1.1\r\n${H}\r\n`.repeat(12)],
  "12 pipelined, leaves": [`GET /x HTTP/1.1\r\n${H}\r\n`.repeat(12), 2],
  "held POST": [`POST /api/v1/json/data/tag HTTP/1.1\r\n${H}Content-Length: 2\r\n\r\nhi`],
  "held POST, leaves": [`POST /api/v1/json/data/tag HTTP/1.1\r\n${H}Content-Length: 2\r\n\r\nhi`, 5],
  "GET with a body": [`GET /x HTTP/1.1\r\n${H}Content-Length: 2\r\n\r\nhi`],
  "old read": [old("")],
  "old read, leaves": [old(""), 5],
  "old read with a key": [old(`?api_key=${"a".repeat(32)}`)],
  "12 old reads, half-close": [old("").repeat(12), "halfClose"],
  upgrade: [`GET /x HTTP/1.1\r\n${H}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`],
};

const settings = {
  HEADERS_TIMEOUT_MS: "300",
  BODY_TIMEOUT_MS: "300",
  TOTAL_TIMEOUT_MS: "800",
  MAX_CONNECTIONS: "1",
};

export const leaks: Attack = {
  name: "leaks",
  what: "Every misbehaviour of a client meets every misbehaviour of the upstream, over one connection: it must come back.",
  async run(context) {
    let misbehave: ((socket: Socket) => void) | undefined;
    const upstream = await context.openRawUpstream((socket) =>
      (misbehave ?? ((other: Socket) => other.write(OK)))(socket),
    );
    let gateway: Program = await context.startGateway({ LEGACY_URL: upstream.url, ...settings });
    const passes = async () =>
      (await ask(gateway.port, "/y", { limit: 3000, headers: { Connection: "close" } })).status === 200;
    await passes();
    await sleep(500);
    const files = gateway.openFiles();
    const cases: { name: string; holds: boolean }[] = [];
    for (const [upstreamName, fault] of Object.entries(upstreams))
      for (const [clientName, [bytes, leaves]] of Object.entries(clients)) {
        const name = `${upstreamName} / ${clientName}`;
        misbehave = fault;
        await behave(gateway.port, bytes, leaves);
        misbehave = undefined;
        const isFine = (await passes()) || (await passes());
        cases.push({ name, holds: isFine });
        if (isFine) continue;
        await gateway.stop();
        gateway = await context.startGateway({ LEGACY_URL: upstream.url, ...settings });
      }
    // A thread that has read a large answer ends when it was idle for a while.
    const areBack = await holdsWithin(() => gateway.openFiles() <= files && upstream.sockets() === 0, 120_000);
    return [
      allHold("combinations after which a GET passes", cases),
      holds("open files", `${files} -> ${gateway.openFiles()}`, "as at the start", areBack),
      atMost("connections to the upstream", upstream.sockets(), 0),
    ];
  },
};

/** Sends, and stays for at most 400 ms. */
const behave = (port: number, bytes: string, leaves: number | "halfClose" | undefined): Promise<void> =>
  new Promise((resolve) => {
    const socket = openSocket(port);
    const stay = setTimeout(() => socket.destroy(), 400);
    socket.on("connect", () => {
      socket.write(Buffer.from(bytes, "latin1"));
      if (leaves === "halfClose") socket.end();
      else if (leaves !== undefined) setTimeout(() => socket.destroy(), leaves);
    });
    socket.on("data", (chunk: Buffer) => {
      // An answer has begun: it is long enough to be whole, or it never will be.
      if (chunk.length > 0) setTimeout(() => socket.destroy(), 30);
    });
    socket.on("close", () => {
      clearTimeout(stay);
      resolve();
    });
  });
