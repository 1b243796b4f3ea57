import { subscribe } from "node:diagnostics_channel";
import { createRequire } from "node:module";
import { isIP, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type * as Undici from "undici";
import { type ByteBudget, type Observer, openByteBudget, shownTarget } from "../../operation/index.ts";
import { openSemaphore } from "./semaphore.ts";
import type { Judgement, LegacyTarget } from "../../catalogue/index.ts";
import type { Beginning } from "./answerBeginning.ts";
import { findExpiryDate } from "./expiryDate.ts";
import {
  codeOf,
  connectionReset,
  noteConnectionError,
  type RequestLine,
  type RequestUnderWay,
  type UpstreamFailure,
} from "./failure.ts";
import { openParts, type PartSettings } from "./parts.ts";

/**
 * Loads the parts of undici that the gateway uses, each from its own file. The package's index also loads fetch,
 * WebSocket, caches and mocks, which takes longer than the rest of the start. A new version may move these files: the
 * gateway then fails at any start.
 */
const require = createRequire(import.meta.resolve("undici"));

/** One connection to an upstream. */
const Client = require("./lib/dispatcher/client.js") as typeof Undici.Client;
/** A pool of connections to one upstream. */
const Pool = require("./lib/dispatcher/pool.js") as typeof Undici.Pool;
/** Makes the function that opens connections. */
const buildConnector = require("./lib/core/connect.js") as typeof Undici.buildConnector;

/**
 * A call that is over: method and path, duration (`ms`), and the answer's status and bytes or the kind of failure.
 * `path` may hold a key.
 */
type UpstreamCall = { method: string; path: string; ms: number } & (
  | { status: number; bytes: number }
  | { failure: string }
);

/** Says what an answer shows about the upstream; `undefined`: nothing. `target`: the request's, if it has been read. */
export type Judge = (
  request: RequestLine,
  answer: Beginning,
  target?: Pick<LegacyTarget, "segments">,
) => Judgement | undefined;

type OnUpstreamCall = (call: UpstreamCall) => void;

/** Logs each call at `LOG_LEVEL=debug`; `undefined` at other levels, so that calls cost nothing then. */
export const observeCalls = (observer: Observer, event: string): OnUpstreamCall | undefined =>
  observer.isDebug
    ? ({ path, ms, ...call }) =>
        observer.debug(event, { ...call, asked: shownTarget(path), ms: Math.round(ms * 10) / 10 })
    : undefined;

/** The address of an upstream, and its bounds. All times are in milliseconds. */
export type UpstreamSettings = {
  /** `http://127.0.0.1:8080`, or https; without a path. */
  origin: string;
  /** The maximum number of sockets. */
  connections: number;
  /** The maximum number of requests that wait for a socket (default: 1,000); more are refused at once. */
  waiting?: number | undefined;
  /** Milliseconds that a request may wait (default: 10 s). */
  waitTimeout?: number;
  /** Certificates (PEM) of the trusted authorities, instead of those that Node trusts. */
  ca?: string | undefined;
  connectTimeout: number;
  headersTimeout: number;
  /** The longest silence within a body, in either direction. */
  bodyTimeout: number;
  /** Bounds the bytes of answers that are being collected, shared with other upstreams (default: no bound). */
  memory?: ByteBudget;
  /** Notes what requests show about the upstream. */
  health?: UpstreamHealth;
  /** Called with the end of a certificate's validity, as TLS writes it (`Jan  1 00:00:00 2030 GMT`). */
  onCertificate?: (validTo: string) => void;
  /** Absent if answers are not judged. */
  judge?: Judge | undefined;
  /** The parts of the upstream: a part that hangs holds at most half of the connections. Without it: no such limit. */
  parts?: PartSettings | undefined;
  /** Called with an error of the gateway itself for which no request waits any more. */
  onFault?: ((error: unknown) => void) | undefined;
  /** Called with each call when it is over. */
  onCall?: OnUpstreamCall | undefined;
};

/** Connections to one upstream, and its settings. */
export type Upstream = ReturnType<typeof openUpstream>;

/** Requests that may wait for a connection: 64 connections serve so many in a second if legacy takes 60 ms for each. */
const MAX_WAITING = 1000;
/** Milliseconds that a request may wait; then its client gets a 503. */
export const WAIT_TIMEOUT = 10_000;

/**
 * Opens a pool of keep-alive connections to one upstream. It connects with the first request. Every request goes
 * through the semaphore, so requests never wait long in undici's queue.
 *
 * @throws A TypeError if the origin is not a URL.
 */
export const openUpstream = (settings: UpstreamSettings) => {
  const url = new URL(settings.origin);
  const { connections, waiting = MAX_WAITING, waitTimeout = WAIT_TIMEOUT, parts } = settings;
  const pool = new Pool(url.origin, {
    connections,
    factory: (origin, options) => new PooledClient(origin, options),
    // If HTTP/2 were allowed, requests would wait until the first connection shows which version the server speaks.
    allowH2: false,
    // With more than one request on a connection, undici would send a request again when an earlier request fails.
    pipelining: 1,
    connect: connector(settings),
    headersTimeout: settings.headersTimeout,
    bodyTimeout: settings.bodyTimeout,
    // Servers keep an idle connection for longer than this, so requests do not meet a closed connection.
    keepAliveTimeout: 4000,
    keepAliveMaxTimeout: 8000,
    keepAliveTimeoutThreshold: 1000,
    maxHeaderSize: 64 * 1024,
  });
  const semaphore = openSemaphore({ places: connections, queue: waiting, waitTimeout });
  return {
    ...settings,
    pool,
    semaphore,
    parts: parts && openParts(connections, parts),
    memory: settings.memory ?? openByteBudget(Number.POSITIVE_INFINITY),
    /** The name for TLS, so that a client's Host header cannot choose it. */
    servername: url.protocol === "https:" && isIP(url.hostname) === 0 ? url.hostname : undefined,
    /** Waits for the requests in flight (at most until their timeouts), then closes all connections. */
    async close(): Promise<void> {
      await semaphore.idle();
      await pool.close();
    },
  };
};

/** Opens connections to one upstream: HTTP/1.1 only, both address families tried, `timeout` in ms. */
const connector = ({
  connectTimeout: timeout,
  ca,
  onCertificate,
}: UpstreamSettings): Undici.buildConnector.connector => {
  const connect = buildConnector({
    timeout,
    ...(ca === undefined ? {} : { ca }),
    allowH2: false,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.min(500, Math.floor(timeout / 2))),
  });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) {
        noteConnectionError(error, "opening");
        if (codeOf(error) !== "CERT_HAS_EXPIRED") return callback(error, null);
        const { hostname: host, servername } = options;
        const server = { host, port: Number(options.port || 443), servername, timeout };
        return findExpiryDate(server, (expiredOn) => callback(Object.assign(error, { expiredOn }), null));
      }
      socket.on("error", onOpenError);
      // A connection that resumes a TLS session may have no certificate.
      if (socket instanceof TLSSocket) onCertificate?.(socket.getPeerCertificate()?.valid_to ?? "");
      return callback(null, socket);
    });
};

/**
 * Gives ECONNRESET another code. undici takes ECONNRESET for the clean end of a body without a length
 * (lib/dispatcher/client-h1.js, onHttpSocketError), so a cut answer would look whole. With another code undici fails
 * the request. This listener is added before undici's listener.
 */
const onOpenError = (error: NodeJS.ErrnoException): void => {
  noteConnectionError(error, "open");
  if (error.code === "ECONNRESET") error.code = connectionReset;
};

/**
 * A pooled connection that stays in use after it has refused a request. undici returns `false` both for a request that
 * it refuses and for a busy connection (DispatcherBase.dispatch). The pool takes both for busy and waits for `drain`,
 * which an idle connection never emits, so it would not be used again. A connection without a request is not busy.
 */
class PooledClient extends Client {
  override dispatch(options: Undici.Dispatcher.DispatchOptions, handler: Undici.Dispatcher.DispatchHandler): boolean {
    return super.dispatch(options, handler) || (this.stats.size === 0 && !this.closed && !this.destroyed);
  }
}

/** The key under which an undici request has its connection. A WeakMap would take more time: this path is hot. */
const connection = Symbol("connection");

/**
 * Trailers that undici's parser takes for headers, which RFC 9110 6.5.1 forbids. After `Connection: close` as a trailer
 * it refuses the connection's next answer, but undici still sends the next request. The gateway therefore closes such a
 * connection, which it can find only by undici's diagnostics channels.
 */
const readAsHeaders = /^(?:connection|transfer-encoding)$/i;

subscribe("undici:client:sendHeaders", (message) => {
  const { request, socket } = message as Undici.DiagnosticsChannel.ClientSendHeadersMessage;
  (request as { [connection]?: Socket })[connection] = socket;
});
subscribe("undici:request:trailers", (message) => {
  const { request, trailers } = message as Undici.DiagnosticsChannel.RequestTrailersMessage;
  const isName = (_: Buffer, at: number): boolean => at % 2 === 0;
  if (trailers.filter(isName).some((name) => readAsHeaders.test(name.toString("latin1"))))
    (request as { [connection]?: Socket })[connection]?.destroy();
});

/** Notes what requests show about an upstream. */
export type UpstreamHealth = {
  /** A request has been sent, with all of its body. */
  sent?(): void;
  /** The answer to a request has begun, or no answer will come. */
  begun?(sent: RequestUnderWay): void;
  /** A whole answer has come. `judgement`: what it shows, if answers are judged. */
  answered(sent: RequestUnderWay, judgement: Judgement | undefined, status: number): void;
  /** A request got no answer, or not all of it. */
  failed(request: RequestLine, failure: UpstreamFailure): void;
};
