import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { refuseFraming } from "./bodyFraming.ts";
import { type Refusal, refusalBytes, refuseRequest } from "./refusal.ts";
import { readRequestTarget } from "./requestTarget.ts";
import { openUnsentBytes, type UnsentBytes } from "./unsentBytes.ts";

/** What clients may hold of a listener. */
export type ClientLimits = {
  /** Milliseconds in which a client has to take a part of the bytes that wait for it. */
  sendTimeout: number;
  /** Bytes of answers that may wait to be sent, over all connections. */
  maxSendBytes: number;
  /** Connections at a time. */
  maxConnections: number;
};

export type HttpServer = {
  server: Server;
  unsent: UnsentBytes;
  /** Connections that are open now, and how many were refused because of the bound. */
  connections: () => { open: number; refused: number };
};

/** Requests of one connection that may wait behind the one that is answered (pipelining). */
const MAX_PIPELINED = 32;

/** Milliseconds for the client of a refused connection to read why, and how many such connections may linger at a time. */
const LINGER_MS = 1000;
const MAX_LINGERING = 1000;

const tooManyConnections: Refusal = { status: 503, detail: "Too many connections are open.", retryAfter: 5 };
const tooManyBytes: Refusal = { status: 503, detail: "Too many bytes wait for other clients.", retryAfter: 5 };
const tooManyPipelined: Refusal = {
  status: 503,
  detail: `More than ${MAX_PIPELINED} requests wait on this connection.`,
  retryAfter: 1,
};

/**
 * A server whose listener gets sound requests only: `url` is in origin form, `headers.host` the host that the request is for
 * (`undefined` where it names none), the body's length is known. Everything else is answered here, as `{"detail": ...}`.
 */
export const openHttpServer = (
  options: ServerOptions,
  { sendTimeout, maxSendBytes, maxConnections }: ClientLimits,
  listener: RequestListener,
): HttpServer => {
  const unsent = openUnsentBytes({ timeout: sendTimeout, max: maxSendBytes });
  const pipelining = openPipelining();
  /** Connections that end with a refusal: a request that follows it must not be acted on (RFC 9112 9.6). */
  const ending = new WeakSet<Socket>();
  const server = createServer(
    // Node refuses a request without a Host with an empty body: it is refused here, in our format.
    { ...options, requireHostHeader: false, ServerResponse: responseNotedBy(unsent) },
    (request, response) => {
      const { socket } = request;
      // A response has no connection of its own while an earlier one of the same connection is not finished.
      const isPipelined = response.socket === null;
      if (socket.writableEnded || (isPipelined && ending.has(socket))) return;
      const refusal =
        readHead(request) ??
        (unsent.isFull ? tooManyBytes : undefined) ??
        (isPipelined && !pipelining.enter(socket, response) ? tooManyPipelined : undefined);
      if (refusal !== undefined) {
        ending.add(socket);
        refuseRequest(response, refusal);
      } else if (request.url === "*") response.writeHead(204).end();
      else listener(request, response);
    },
  );
  server.on("clientError", refuseUnparsed);
  server.on("checkExpectation", (_, response) =>
    refuseRequest(response, { status: 417, detail: "Expectation Failed" }),
  );
  server.on("connect", (_, socket) => refuseSocket(socket, { status: 400, detail: "This server is no proxy." }));
  const connections = boundConnections(server, maxConnections, unsent.forget);
  server.once("close", unsent.close);
  return { server, unsent, connections };
};

/** Reads what a request is for, once: from here on its target and its Host say it, however they are read. */
const readHead = (request: IncomingMessage): Refusal | undefined => {
  const read = readRequestTarget(request);
  if (!read.ok) return read;
  request.url = read.target;
  if (request.headers.host !== read.host) setHost(request, read.host);
  return refuseFraming(request);
};

const setHost = ({ headers, rawHeaders }: IncomingMessage, host: string | undefined): void => {
  const at = rawHeaders.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === "host");
  if (at !== -1) rawHeaders.splice(at, 2);
  if (host === undefined) delete headers.host;
  else {
    headers.host = host;
    rawHeaders.push("Host", host);
  }
};

const unsentBytes = Symbol("unsentBytes");

/**
 * Sends a whole answer, `headers` as flat names and values. False where its bytes do not fit beside those that wait for other clients: then
 * 503 is sent instead, before anything was.
 */
export const sendWhole = (
  response: ServerResponse & { [unsentBytes]?: UnsentBytes },
  { status, headers, body }: { status: number; headers: string[]; body: Buffer | undefined },
): boolean => {
  if (body !== undefined && response[unsentBytes]?.hasRoomFor(body.length) === false) {
    refuseRequest(response, tooManyBytes);
    return false;
  }
  response.writeHead(status, headers);
  response.end(body);
  return true;
};

/** Responses that have their unsent bytes counted; for one that is sent at once that is a comparison. */
const responseNotedBy = (unsent: UnsentBytes) =>
  class<Request extends IncomingMessage> extends ServerResponse<Request> {
    get [unsentBytes](): UnsentBytes {
      return unsent;
    }

    override write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
      const flows = super.write(chunk, encoding as BufferEncoding, callback as () => void);
      if (!flows) unsent.note(this);
      return flows;
    }

    override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
      super.end(chunk, encoding as BufferEncoding, callback as () => void);
      if (this.writableLength > 0) unsent.note(this);
      return this;
    }
  };

/** Node reads on while an answer is made, and bounds only the bytes of the answers that wait behind it, not their number. */
const openPipelining = () => {
  const waiting = new WeakMap<Socket, number>();
  return {
    /** False where too many requests of this connection wait already. */
    enter(socket: Socket, response: ServerResponse): boolean {
      const count = waiting.get(socket) ?? 0;
      if (count >= MAX_PIPELINED) return false;
      waiting.set(socket, count + 1);
      response.once("close", () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
      return true;
    },
  };
};

/** Node's own `maxConnections` drops a connection without a word. */
const boundConnections = (
  server: Server,
  max: number,
  onClose: (socket: Socket) => void,
): HttpServer["connections"] => {
  let open = 0;
  let lingering = 0;
  let refused = 0;
  server.on("connection", (socket: Socket) => {
    if (open < max) {
      open++;
      socket.once("close", () => {
        open--;
        onClose(socket);
      });
      return;
    }
    refused++;
    if (lingering >= MAX_LINGERING) {
      socket.destroy();
      return;
    }
    lingering++;
    socket.once("close", () => lingering--);
    refuseSocket(socket, tooManyConnections);
  });
  return () => ({ open, refused });
};

const ofError: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: "Request Header Fields Too Large" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "Request Timeout" },
};

/** What is no HTTP gets its answer in our format too. */
const refuseUnparsed = (
  error: Error & { code?: string },
  socket: Duplex & { _httpMessage?: ServerResponse | null },
): void => {
  // Nothing may be written into an answer that has begun.
  if (error.code === "ECONNRESET" || socket._httpMessage?.headersSent) socket.destroy();
  else refuseSocket(socket, ofError[error.code ?? ""] ?? { status: 400, detail: "Bad Request" });
};

/** Answers on a connection on which no request was read, and closes it when the client has had the time to read that. */
const refuseSocket = (socket: Duplex, refusal: Refusal): void => {
  if (socket.writableEnded) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const late = setTimeout(() => socket.destroy(), LINGER_MS);
  // After CONNECT node:http does not listen for errors any more.
  socket.on("error", () => socket.destroy()).once("close", () => clearTimeout(late));
  socket.end(refusalBytes(refusal));
};
