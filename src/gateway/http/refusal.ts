import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { exchangeOf, http } from "../../operation/index.ts";
import { type WriteError, writeDetail } from "./problemDetails.ts";

/** The answer to a request that never reaches the listener. `retryAfter` is in seconds. */
export type Refusal = { status: number; detail: string; retryAfter?: number };

const detailOf = ({ detail }: Refusal): Buffer => Buffer.from(JSON.stringify({ detail }));

const headersOf = (
  { retryAfter }: Refusal,
  { type, body }: Pick<ReturnType<WriteError>, "type" | "body">,
): [name: string, value: string][] => [
  ["Content-Type", type],
  ["Content-Length", String(body.length)],
  ...(retryAfter === undefined ? [] : [["Retry-After", String(retryAfter)] as [string, string]]),
];

/** As `answerWhole`, for a request that is refused before anything is looked up for it. */
export const refuseRequest = (response: ServerResponse, refusal: Refusal, write = writeDetail): void => {
  exchangeOf(response).isRefused = true;
  answerWhole(response, refusal, write);
};

/**
 * Answers and ends the connection; the rest of the request is not read. `write` needs a request whose target was read.
 */
export const answerWhole = (response: ServerResponse, refusal: Refusal, write: WriteError): void => {
  const { method, url = "/", headers } = response.req;
  const written = write({ method, target: url, accept: headers.accept }, refusal.status, detailOf(refusal));
  response.shouldKeepAlive = false;
  response.writeHead(refusal.status, [...headersOf(refusal, written).flat(), ...written.added]).end(written.body);
};

/** The whole answer as text, for a connection on which no request was read; `requestId` is its `X-Request-Id`. */
const refusalBytes = (refusal: Refusal, requestId: string): string => {
  const body = detailOf(refusal);
  const lines = [
    `HTTP/1.1 ${refusal.status} ${http.STATUS_CODES[refusal.status]}`,
    ...headersOf(refusal, { type: "application/json", body }).map(([name, value]) => `${name}: ${value}`),
    `X-Request-Id: ${requestId}`,
    "Connection: close",
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body.toString()}`;
};

/**
 * Milliseconds for the client of a refused connection to read why, and how many such connections may linger at a time.
 */
const LINGER_MS = 1000;
const MAX_LINGERING = 1000;

const ofError: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: "Request Header Fields Too Large" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "Request Timeout" },
};

/** What is no HTTP gets its answer in our format too, but not in the place of an answer to the request before it. */
export const refuseUnparsed = (
  error: Error & { code?: string },
  socket: Duplex & { _httpMessage?: ServerResponse | null },
  refuseOn: (socket: Duplex, refusal: Refusal) => void,
): void => {
  const answering = socket._httpMessage;
  if (error.code === "ECONNRESET") socket.destroy();
  else if (answering?.req.complete) closeAfter(answering);
  // Nothing may be written into an answer that has begun.
  else if (answering?.headersSent) socket.destroy();
  else refuseOn(socket, ofError[error.code ?? ""] ?? { status: 400, detail: "Bad Request" });
};

const lastAnswers = new WeakSet<ServerResponse>();

/**
 * Lets an answer go out and closes its connection then; what comes meanwhile is ignored, and requests
 * that wait are not acted on.
 */
const closeAfter = (response: ServerResponse): void => {
  // Node reports each further read of a connection whose bytes it cannot parse.
  if (lastAnswers.has(response)) return;
  lastAnswers.add(response);
  response.shouldKeepAlive = false;
  response.once("finish", () => response.req.socket.destroySoon());
};

/**
 * Answers on a connection on which no request was read, and closes it when the client has had the time to read
 * that. False: it is closed.
 */
export const refuseSocket = (socket: Duplex, refusal: Refusal, requestId: string): boolean => {
  if (socket.writableEnded) return false;
  if (!socket.writable) {
    socket.destroy();
    return false;
  }
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  // After CONNECT node:http does not listen for errors any more.
  socket.on("error", () => socket.destroy()).once("close", () => clearTimeout(late));
  socket.end(refusalBytes(refusal, requestId));
  return true;
};

const tooManyConnections: Refusal = { status: 503, detail: "Too many connections are open.", retryAfter: 5 };

/**
 * Node's own `maxConnections` drops a connection without a word. The result: connections that are open now,
 * and how many were refused.
 */
export const boundConnections = (
  server: Server,
  max: number,
  refuseOn: (socket: Socket, refusal: Refusal) => void,
): (() => { open: number; refused: number }) => {
  let open = 0;
  let lingering = 0;
  let refused = 0;
  server.on("connection", (socket: Socket) => {
    if (open < max) {
      open++;
      socket.once("close", () => open--);
      return;
    }
    refused++;
    if (lingering >= MAX_LINGERING) {
      socket.destroy();
      return;
    }
    lingering++;
    socket.once("close", () => lingering--);
    refuseOn(socket, tooManyConnections);
  });
  return () => ({ open, refused });
};
