import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { exchangeOf, http } from "../../operation/index.ts";
import { type OwnError, ownReply, plainReply, sendReply } from "./ownErrors.ts";

/** Refuses a request, and ends its connection. */
export const refuseRequest = (
  response: ServerResponse,
  refusal: OwnError,
  reply = ownReply(response, refusal),
): void => {
  exchangeOf(response).isRefused = true;
  sendLast(response, reply);
};

/** Sends an answer and ends the connection, without reading the rest of the request. */
export const sendLast = (response: ServerResponse, reply: ReturnType<typeof ownReply>): void => {
  response.shouldKeepAlive = false;
  sendReply(response, reply);
};

/** The whole answer as text, for a connection on which no request was read. `requestId`: its `X-Request-Id`. */
const refusalBytes = (refusal: OwnError, requestId: string): string => {
  const { status, headers, body } = plainReply(refusal);
  const lines = [`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  lines.push(`X-Request-Id: ${requestId}`, "Connection: close");
  return `${lines.join("\r\n")}\r\n\r\n${body.toString()}`;
};

/**
 * Milliseconds for which the client of a refused connection may read the answer; `MAX_LINGERING`: such connections.
 */
const LINGER_MS = 1000;
const MAX_LINGERING = 1000;

const ofError: Record<string, OwnError> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: "Request Header Fields Too Large" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "Request Timeout" },
};

/** The unfinished response on a connection; `undefined` if its last response is finished. Only Node knows it. */
export const answeringOn = (socket: Duplex & { _httpMessage?: ServerResponse | null }): ServerResponse | undefined =>
  socket._httpMessage ?? undefined;

/** Answers, in our format, bytes that are not HTTP, unless an earlier request is being answered. */
export const refuseUnparsed = (
  error: Error & { code?: string },
  socket: Duplex,
  refuseOn: (socket: Duplex, refusal: OwnError) => void,
): void => {
  const answering = answeringOn(socket);
  if (error.code === "ECONNRESET") socket.destroy();
  else if (answering?.req.complete) closeAfter(answering);
  // A refusal must not be written into an answer that has begun.
  else if (answering?.headersSent) socket.destroy();
  else refuseOn(socket, ofError[error.code ?? ""] ?? { status: 400, detail: "Bad Request" });
};

const lastAnswers = new WeakSet<ServerResponse>();

/**
 * Closes the connection of an answer when the answer has been sent. Bytes that come meanwhile are ignored, and waiting
 * requests are not processed.
 */
const closeAfter = (response: ServerResponse): void => {
  // Node reports an error for each further read of a connection whose bytes it cannot parse.
  if (lastAnswers.has(response)) return;
  lastAnswers.add(response);
  response.shouldKeepAlive = false;
  response.once("finish", () => response.req.socket.destroySoon());
};

/**
 * Answers on a connection on which no request was read, and closes it when the client has had time to read the answer.
 * False: the connection is closed already.
 */
export const refuseSocket = (socket: Duplex, refusal: OwnError, requestId: string): boolean => {
  if (socket.writableEnded) return false;
  if (!socket.writable) {
    socket.destroy();
    return false;
  }
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  // After CONNECT, node:http no longer listens for errors.
  socket.on("error", () => socket.destroy()).once("close", () => clearTimeout(late));
  socket.end(refusalBytes(refusal, requestId));
  return true;
};

const tooManyConnections: OwnError = { status: 503, detail: "Too many connections are open.", retryAfter: 5 };

/**
 * Bounds the number of connections, with an answer: Node's `maxConnections` drops a connection silently. The result
 * counts the connections that are open now, and those that were refused.
 */
export const boundConnections = (
  server: Server,
  max: number,
  refuseOn: (socket: Socket, refusal: OwnError) => void,
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
