import type { IncomingMessage, RequestListener, ServerOptions, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  type ByteBudget,
  exchangeKey,
  exchangeOf,
  type Holding,
  http,
  HttpExchange,
  type RequestReaders,
  UNCOUNTED,
} from "../../operation/index.ts";
import type { Guard } from "./guard.ts";
import { boundRest, type OwnError, type OwnErrors, ownErrorsKey, plainReply } from "./ownErrors.ts";
import { boundConnections, refuseRequest, refuseSocket, refuseUnparsed } from "./refusal.ts";
import { readHead } from "./requestTarget.ts";
import { watchConnections } from "./watchedConnections.ts";

/** Bounds on what clients may hold of a server. */
export type ClientLimits = {
  /** Milliseconds in which a client has to take some of the bytes that wait for it. */
  sendTimeout: number;
  /** Milliseconds for which nothing may move on a connection: longer than any answer may take to begin. */
  answerTimeout: number;
  /** Bounds the bytes of whole answers that wait to be sent, over all connections. */
  memory: ByteBudget;
  maxConnections: number;
};

/** How exchanges are read, and who hears of their end. */
export type ExchangeOptions = RequestReaders & {
  /** Called with each exchange once it is over; `response` where a request was read. */
  onOver?: (exchange: HttpExchange, response?: ServerResponse) => void;
};

/** Headers of one request; each takes ten times the memory of its bytes. Apache has the same limit. */
const MAX_HEADERS = 100;

/** Requests of one connection that may wait behind the one that is answered (pipelining). */
const MAX_PIPELINED = 8;

/**
 * Requests behind those that wait, of all connections, in what was read with them; none of them is answered, but
 * Node keeps each, with 2 KiB.
 */
const MAX_IGNORED = 30_000;

const tooManyBytes: OwnError = { status: 503, detail: "Too many bytes of other answers are in memory.", retryAfter: 5 };
const unknownExpectation: OwnError = { status: 417, detail: "Expectation Failed" };

/**
 * A server whose listener gets sound requests only: `url` is in origin form, `headers.host` the host that the request
 * is for (`undefined` where it names none), the body's length is known. Everything else is answered here, as
 * `{"detail": ...}`, or by `ownErrors` where the request can be read. A connection's requests are answered one
 * after the other (RFC 9112 9.3.2). `guard`: for what is thrown while a request is answered.
 */
export const openHttpServer = (
  options: ServerOptions,
  { sendTimeout, answerTimeout, memory, maxConnections }: ClientLimits,
  listener: RequestListener,
  {
    onOver = () => undefined,
    ownErrors,
    guard,
    ...readers
  }: ExchangeOptions & { ownErrors?: OwnErrors; guard?: Guard } = { trusted: () => false },
) => {
  const read: RequestListener = (request, response) => {
    // The connection has ended with a refusal: a request that follows it must not be acted on (RFC 9112 9.6).
    if (request.socket.writableEnded) return;
    const refusal = readHead(request);
    if (refusal !== undefined) refuseRequest(response, refusal, refusal.isReadable ? undefined : plainReply(refusal));
    else if (request.url === "*") response.writeHead(204).end();
    else listener(request, response);
  };
  const { inTurn, hasWaiting } = openPipelining(guard?.guarded ?? ((unguarded) => unguarded));
  const server = http.createServer(
    // Node refuses a request without a Host with an empty body: it is refused here, in our format.
    {
      // Longer than load balancers keep an idle connection: the side that closes first must not be ours.
      keepAliveTimeout: 75_000,
      ...options,
      requireHostHeader: false,
      IncomingMessage: JoiningRequest,
      ServerResponse: responseNotedBy({ memory, ownErrors }, readers, onOver),
    },
    inTurn(read),
  );
  server.maxHeadersCount = MAX_HEADERS;
  const refuseOn = (socket: Duplex, refusal: OwnError): void => {
    const exchange = new HttpExchange();
    if (!refuseSocket(socket, refusal, exchange.id)) return;
    exchange.status = refusal.status;
    exchange.isRefused = true;
    onOver(exchange);
  };
  server.on("clientError", (error, socket) => refuseUnparsed(error, socket, refuseOn));
  server.on(
    "checkContinue",
    inTurn((request, response) => {
      response.writeContinue();
      read(request, response);
    }),
  );
  server.on(
    "checkExpectation",
    inTurn((_, response) => refuseRequest(response, unknownExpectation, plainReply(unknownExpectation))),
  );
  server.on("connect", (_, socket) => refuseOn(socket, { status: 400, detail: "This server is no proxy." }));
  const connections = boundConnections(server, maxConnections, refuseOn);
  const fail = guard?.fail ?? ((response: ServerResponse) => void response.destroy());
  const watched = watchConnections(server, { sendTimeout, answerTimeout, fail });
  return { server, watched, connections, hasWaiting };
};

const memoryKey = Symbol("memory");

/**
 * Sends a whole answer, `headers` as flat names and values. False where its bytes do not fit into the memory beside
 * others: then 503 is sent instead, before anything was. `holding`: has the bytes of the answer until then.
 */
export const sendWhole = (
  response: ServerResponse & { [memoryKey]?: ByteBudget },
  { status, headers, body }: { status: number; headers: string[]; body: Buffer | string | undefined },
  holding?: Holding,
): boolean => {
  let release: (() => void) | undefined;
  if (body !== undefined && body.length > UNCOUNTED && response[memoryKey] !== undefined) {
    holding?.release();
    release = response[memoryKey].send(body);
    if (release === undefined) {
      refuseRequest(response, tooManyBytes);
      return false;
    }
  }
  const { complete: isWhole, headers: sent } = response.req;
  // A request with neither has no body (RFC 9112, section 6.3).
  if (!isWhole && (sent["content-length"] ?? sent["transfer-encoding"]) !== undefined) boundRest(response);
  try {
    response.writeHead(status, headers);
    response.end(body, "latin1");
  } catch (error) {
    release?.();
    throw error;
  }
  if (release !== undefined) {
    if (response.writableLength === 0) release();
    else response.once("close", release);
  }
  return true;
};

/**
 * The class of responses. Each has its exchange, whose id it sends as `X-Request-Id`. The exchange is made when it is
 * asked for: what a constructor throws reaches no guard.
 */
const responseNotedBy = (
  { memory, ownErrors }: { memory: ByteBudget; ownErrors: OwnErrors | undefined },
  readers: RequestReaders,
  onOver: NonNullable<ExchangeOptions["onOver"]>,
) =>
  class<Request extends IncomingMessage> extends http.ServerResponse<Request> {
    #exchange: HttpExchange | undefined;

    get [exchangeKey](): HttpExchange {
      return (this.#exchange ??= new HttpExchange(this.req, readers));
    }

    get [memoryKey](): ByteBudget {
      return memory;
    }

    get [ownErrorsKey](): OwnErrors | undefined {
      return ownErrors;
    }

    override writeHead(status: number, ...[first, second]: [first?: unknown, second?: unknown]): this {
      const { id } = this[exchangeKey];
      this[exchangeKey].begin(status);
      // Node's parser takes this trailer for a header, and refuses the connection's next request.
      if (this.req.rawTrailers.length > 0 && this.req.trailers["connection"] !== undefined)
        this.shouldKeepAlive = false;
      const reason = typeof first === "string" ? first : undefined;
      const headers = typeof first === "object" ? first : second;
      if (!Array.isArray(headers))
        return super.writeHead(status, reason, { ...(headers as object), "X-Request-Id": id });
      // A hit has the same list each time: its id is added for this call only, which costs less than a copy.
      headers.push("X-Request-Id", id);
      try {
        return super.writeHead(status, reason, headers as string[]);
      } finally {
        headers.length -= 2;
      }
    }

    override write(chunk: unknown, encoding?: unknown, callback?: unknown): boolean {
      this.#count(chunk, encoding);
      return super.write(chunk, encoding as BufferEncoding, callback as () => void);
    }

    override end(chunk?: unknown, encoding?: unknown, callback?: unknown): this {
      super.end(chunk, encoding as BufferEncoding, callback as () => void);
      this.#count(chunk, encoding);
      if (!this[exchangeKey].isDeferred) onOver(this[exchangeKey], this);
      return this;
    }

    #count(chunk: unknown, encoding: unknown): void {
      if (typeof chunk === "string")
        this[exchangeKey].bytes += encoding === "latin1" ? chunk.length : Buffer.byteLength(chunk);
      else if (chunk instanceof Uint8Array) this[exchangeKey].bytes += chunk.length;
    }
  };

/** Chunks of up to so many bytes are joined. */
const SMALL = 1024;

const nothing = Buffer.alloc(0);

/**
 * A request that joins the small chunks of a body that is not read yet, those of each turn of the event loop: apart,
 * each would take 150 bytes more than its own. Emits `whole` when all of the body is there, be it unread.
 */
class JoiningRequest extends http.IncomingMessage {
  #joined: Buffer = nothing;
  #size = 0;

  override push(chunk: Buffer | null): boolean {
    if (chunk === null || this.readableLength === 0 || chunk.length > SMALL) {
      if (this.#size > 0) this.#pushJoined();
      const wantsMore = super.push(chunk);
      if (chunk === null) this.emit("whole");
      return wantsMore;
    }
    if (this.#size === 0) setImmediate(() => this.#pushJoined());
    const end = this.#size + chunk.length;
    if (end > this.#joined.length) this.#joined = Buffer.concat([this.#joined.subarray(0, this.#size)], 2 * end);
    this.#joined.set(chunk, this.#size);
    this.#size = end;
    return this.readableLength + end < this.readableHighWaterMark;
  }

  #pushJoined(): void {
    if (this.#size === 0 || this.destroyed) return;
    const joined = this.#joined.subarray(0, this.#size);
    this.#joined = nothing;
    this.#size = 0;
    super.push(joined);
  }
}

/**
 * Node hands a request over while an earlier one of its connection is still answered, and reads on. But what does not
 * go through the response's buffer (1xx answers, a reset) needs the connection, and it bounds only the bytes of the
 * answers that wait, not their number.
 */
const openPipelining = (guarded: Guard["guarded"]) => {
  /** Requests that wait, by connection; those behind `last` are ignored. */
  const queues = new WeakMap<Socket, { waiting: number; ignored: number; last: ServerResponse }>();
  /** Of all connections. */
  let ignored = 0;

  const wait = (answer: RequestListener, request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    // Its time begins now, not with its turn.
    exchangeOf(response);
    const queue = queues.get(socket) ?? { waiting: 0, ignored: 0, last: response };
    queues.set(socket, queue);
    if (queue.ignored > 0 || queue.waiting === MAX_PIPELINED) {
      // The end of the connection says that these were not carried out (RFC 9112 9.3.2).
      queue.last.shouldKeepAlive = false;
      if (queue.ignored++ === 0) socket.once("close", () => (ignored -= queue.ignored));
      if (++ignored > MAX_IGNORED) socket.destroy();
      // At the end of a request Node reads on.
      else process.nextTick(() => socket.pause());
      return;
    }
    queue.waiting++;
    queue.last = response;
    // Its turn has come: the response gets the connection. Where the client leaves before, that never happens.
    response.once("socket", () => {
      queue.waiting--;
      // The response before it closes first.
      process.nextTick(() => {
        if (!socket.destroyed) answer(request, response);
      });
    });
  };

  return {
    /** The same, guarded, but each request of a connection has to wait until the one before it is answered. */
    inTurn: (answer: RequestListener): RequestListener => {
      const listener = guarded((request, response) => {
        // A response has no connection of its own while an earlier one of the same connection is not finished.
        if (response.socket !== null) answer(request, response);
        else wait(listener, request, response);
      });
      return listener;
    },
    hasWaiting: (socket: Socket): boolean => (queues.get(socket)?.waiting ?? 0) > 0,
  };
};
