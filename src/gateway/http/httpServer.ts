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

/** Bounds on the resources of a server that clients may hold. */
export type ClientLimits = {
  /** Milliseconds in which a client has to take some of its waiting bytes. */
  sendTimeout: number;
  /** Milliseconds for which a connection may be silent: longer than any answer may take to begin. */
  answerTimeout: number;
  /** Bounds the bytes of whole answers that wait to be sent, over all connections. */
  memory: ByteBudget;
  maxConnections: number;
};

/** The readers of exchanges, and a listener for their end. */
export type ExchangeOptions = RequestReaders & {
  /** Called with each exchange when it is over. `response`: given if a request was read. */
  onOver?: (exchange: HttpExchange, response?: ServerResponse) => void;
};

/** Headers that a request may have; each takes ten times its bytes in memory. Apache has the same limit. */
const MAX_HEADERS = 100;

/** Requests of one connection that may wait while an earlier request is answered (pipelining). */
const MAX_PIPELINED = 8;

/**
 * Requests of all connections that were read beyond `MAX_PIPELINED`. They are not answered, but Node keeps each of them
 * in memory, with 2 KiB.
 */
const MAX_IGNORED = 30_000;

const tooManyBytes: OwnError = { status: 503, detail: "Too many bytes of other answers are in memory.", retryAfter: 5 };
const unknownExpectation: OwnError = { status: 417, detail: "Expectation Failed" };

/**
 * A server whose listener gets valid requests only: `url` is in origin form, `headers.host` is the host of the target
 * (`undefined` if it names no host), the body's length is known. All other requests are answered here, as
 * `{"detail": ...}`, or by `ownErrors` if the request can be read. A connection's requests are answered one after the
 * other (RFC 9112 9.3.2). `guard`: handles errors that are thrown while a request is answered.
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
    // A refusal has ended the connection: later requests on it must not be processed (RFC 9112 9.6).
    if (request.socket.writableEnded) return;
    const refusal = readHead(request);
    if (refusal !== undefined) refuseRequest(response, refusal, refusal.isReadable ? undefined : plainReply(refusal));
    else if (request.url === "*") response.writeHead(204).end();
    else listener(request, response);
  };
  const { inTurn, hasWaiting } = openPipelining(guard?.guarded ?? ((unguarded) => unguarded));
  const server = http.createServer(
    // Node would refuse a request without a Host with an empty body: the gateway refuses it in its own format.
    {
      // Load balancers keep an idle connection for a shorter time: the gateway must not be the first to close it.
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
 * Sends a whole answer, `headers` as flat names and values. False if the memory budget has no room for its bytes: a 503
 * is then sent instead. `holding`: holds the bytes of the answer until it is sent.
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
  // A request with neither header has no body (RFC 9112, section 6.3).
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
 * The class of responses. Each has an exchange, whose id it sends as `X-Request-Id`. The exchange is created when it is
 * first read, because the guard does not catch errors of a constructor.
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
      // Node's parser takes a `Connection` trailer for a header, and refuses the connection's next request.
      if (this.req.rawTrailers.length > 0 && this.req.trailers["connection"] !== undefined)
        this.shouldKeepAlive = false;
      const reason = typeof first === "string" ? first : undefined;
      const headers = typeof first === "object" ? first : second;
      if (!Array.isArray(headers))
        return super.writeHead(status, reason, { ...(headers as object), "X-Request-Id": id });
      // Hits share the same list: the id is added for this call only, which costs less than a copy.
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

/** Bytes up to which a chunk is joined with others. */
const SMALL = 1024;

const nothing = Buffer.alloc(0);

/**
 * A request that joins small chunks of an unread body, if they come in the same turn of the event loop: without that,
 * each would take 150 additional bytes. Emits `whole` when the whole body has come, even if it is unread.
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
 * Lets pipelined requests wait for their turn. Node emits a request while an earlier request of the connection is still
 * being answered, and reads on. But interim answers and resets do not go through the response's buffer: they need the
 * connection. And Node bounds only the bytes of the waiting answers, not their number.
 */
const openPipelining = (guarded: Guard["guarded"]) => {
  /** The numbers of waiting requests, by connection; requests after `last` are ignored. */
  const queues = new WeakMap<Socket, { waiting: number; ignored: number; last: ServerResponse }>();
  /** The number of ignored requests of all connections. */
  let ignored = 0;

  const wait = (answer: RequestListener, request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    // The request's time begins now, not when its turn comes.
    exchangeOf(response);
    const queue = queues.get(socket) ?? { waiting: 0, ignored: 0, last: response };
    queues.set(socket, queue);
    if (queue.ignored > 0 || queue.waiting === MAX_PIPELINED) {
      // The end of the connection tells the client that these requests were not processed (RFC 9112 9.3.2).
      queue.last.shouldKeepAlive = false;
      if (queue.ignored++ === 0) socket.once("close", () => (ignored -= queue.ignored));
      if (++ignored > MAX_IGNORED) socket.destroy();
      // Node resumes reading at the end of a request, so the pause comes after that.
      else process.nextTick(() => socket.pause());
      return;
    }
    queue.waiting++;
    queue.last = response;
    // The response gets the connection when its turn comes; never if the client leaves before that.
    response.once("socket", () => {
      queue.waiting--;
      // The previous response closes first.
      process.nextTick(() => {
        if (!socket.destroyed) answer(request, response);
      });
    });
  };

  return {
    /** The same listener, guarded; each request of a connection waits until the previous request is answered. */
    inTurn: (answer: RequestListener): RequestListener => {
      const listener = guarded((request, response) => {
        // A response has no connection while an earlier response of the same connection is not finished.
        if (response.socket !== null) answer(request, response);
        else wait(listener, request, response);
      });
      return listener;
    },
    hasWaiting: (socket: Socket): boolean => (queues.get(socket)?.waiting ?? 0) > 0,
  };
};
