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
import { codeOf, connectionReset, noteConnectionError, type RequestLine, type UpstreamFailure } from "./failure.ts";
import { openParts, type PartSettings } from "./parts.ts";

/**
 * The parts of undici that the gateway uses, each from its own file: the package's index also loads fetch,
 * WebSocket, caches and mocks, which takes longer than the rest of the start. A new version may move these
 * files; any start then fails.
 */
const require = createRequire(import.meta.resolve("undici"));

/** One connection to an upstream. */
const Client = require("./lib/dispatcher/client.js") as typeof Undici.Client;
/** Connections to one upstream. */
const Pool = require("./lib/dispatcher/pool.js") as typeof Undici.Pool;
/** Makes the function that opens connections. */
const buildConnector = require("./lib/core/connect.js") as typeof Undici.buildConnector;

/**
 * A call that is over: what was asked, the answer's status and bytes or how it failed, and its
 * milliseconds. `path` may hold a key.
 */
type UpstreamCall = { method: string; path: string; ms: number } & (
  | { status: number; bytes: number }
  | { failure: string }
);

/** Says what an answer shows of the upstream; `undefined`: nothing. `target`: the request's, where it has been read. */
export type Judge = (request: RequestLine, answer: Beginning, target?: LegacyTarget) => Judgement | undefined;

type OnUpstreamCall = (call: UpstreamCall) => void;

/** Logs each call at `LOG_LEVEL=debug`; `undefined` at other levels, so that calls cost nothing then. */
export const observeCalls = (observer: Observer, event: string): OnUpstreamCall | undefined =>
  observer.isDebug
    ? ({ path, ms, ...call }) =>
        observer.debug(event, { ...call, asked: shownTarget(path), ms: Math.round(ms * 10) / 10 })
    : undefined;

/** How to reach an upstream, and its bounds. All times are in milliseconds. */
export type UpstreamSettings = {
  /** `http://127.0.0.1:8080`, https too; no path. */
  origin: string;
  /** Sockets at most. */
  connections: number;
  /** Requests at most that wait beyond those (default: 1,000); more are refused at once. */
  waiting?: number | undefined;
  /** Milliseconds that a request waits at most (default: 10 s). */
  waitTimeout?: number;
  /** Certificates (PEM) of the authorities that the server's must come from, in place of those that Node trusts. */
  ca?: string | undefined;
  connectTimeout: number;
  headersTimeout: number;
  /** Silence at most within a body, either way. */
  bodyTimeout: number;
  /** Bounds the bytes of answers that are being collected, shared with other upstreams (default: no bound). */
  memory?: ByteBudget;
  /** Notes what requests show of the upstream. */
  health?: UpstreamHealth;
  /** A connection has shown a certificate that is valid until then, as TLS writes it (`Jan  1 00:00:00 2030 GMT`). */
  onCertificate?: (validTo: string) => void;
  judge?: Judge | undefined;
  /** A part that hangs holds at most half of the connections; without it, parts are not told apart. */
  parts?: PartSettings | undefined;
  /** Called with an error of the gateway's own that no request waits for any more. */
  onFault?: ((error: unknown) => void) | undefined;
  /** Called with each call when it is over. */
  onCall?: OnUpstreamCall | undefined;
};

/** Connections to one upstream. */
export type Upstream = ReturnType<typeof openUpstream>;

/** Requests that wait for a connection: with 64 connections a second's worth, if legacy takes 60 ms for each. */
const MAX_WAITING = 1000;
/** Milliseconds that a request waits; then its client gets a 503. */
export const WAIT_TIMEOUT = 10_000;

/**
 * Opens a pool of keep-alive connections to one upstream, without one yet. Every request goes through the semaphore, so
 * undici never queues for long.
 *
 * @throws A TypeError where the origin is no URL.
 */
export const openUpstream = (settings: UpstreamSettings) => {
  const url = new URL(settings.origin);
  const { connections, waiting = MAX_WAITING, waitTimeout = WAIT_TIMEOUT, parts } = settings;
  const pool = new Pool(url.origin, {
    connections,
    factory: (origin, options) => new PooledClient(origin, options),
    // Where HTTP/2 is possible, the pool lets requests wait for the first connection to find out.
    allowH2: false,
    // More than one request on a connection would let undici send a request again when an earlier one breaks.
    pipelining: 1,
    connect: connector(settings),
    headersTimeout: settings.headersTimeout,
    bodyTimeout: settings.bodyTimeout,
    // Shorter than any server keeps an idle connection, or requests meet a closed one.
    keepAliveTimeout: 4000,
    keepAliveMaxTimeout: 8000,
    keepAliveTimeoutThreshold: 1000,
    maxHeaderSize: 64 * 1024,
  });
  const semaphore = openSemaphore({ places: connections, queue: waiting, waitTimeout });
  return {
    pool,
    semaphore,
    parts: parts && openParts(connections, parts),
    memory: settings.memory ?? openByteBudget(Number.POSITIVE_INFINITY),
    bodyTimeout: settings.bodyTimeout,
    health: settings.health,
    /** Absent where answers are not judged. */
    judge: settings.judge,
    onCall: settings.onCall,
    onFault: settings.onFault,
    /** The name for TLS, so that a client's Host header cannot choose it. */
    servername: url.protocol === "https:" && isIP(url.hostname) === 0 ? url.hostname : undefined,
    /** Waits for what is in flight (at most its timeouts), then closes all connections. */
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
      // A connection that continues a TLS session may have no certificate.
      if (socket instanceof TLSSocket) onCertificate?.(socket.getPeerCertificate()?.valid_to ?? "");
      return callback(null, socket);
    });
};

/**
 * undici takes ECONNRESET for the clean end of a body that has no length (lib/dispatcher/client-h1.js,
 * onHttpSocketError), so that a cut answer would look whole. Under another code it fails the request. This listener
 * is there before undici's.
 */
const onOpenError = (error: NodeJS.ErrnoException): void => {
  noteConnectionError(error, "open");
  if (error.code === "ECONNRESET") error.code = connectionReset;
};

/**
 * A connection of a pool that a refused request does not use up. undici answers `false` for a request that it refuses
 * and for a connection that is busy (DispatcherBase.dispatch). The pool takes both for busy and waits for `drain`,
 * which an idle connection never emits: it would not be used again. A connection that holds no request is not busy.
 */
class PooledClient extends Client {
  override dispatch(options: Undici.Dispatcher.DispatchOptions, handler: Undici.Dispatcher.DispatchHandler): boolean {
    return super.dispatch(options, handler) || (this.stats.size === 0 && !this.closed && !this.destroyed);
  }
}

/** Where a request of undici's has the connection on which it was sent. A WeakMap would cost more: this path is hot. */
const connection = Symbol("connection");

/**
 * undici's parser takes these trailers for headers, which RFC 9110 6.5.1 forbids: behind `Connection: close` it refuses
 * the connection's next answer, but undici sends the next request all the same. Such a connection is closed; only
 * undici's channels say which one that is.
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

/** A request that an upstream has got. Times are on the clock of `performance.now()`. */
export type RequestUnderWay = {
  readonly request: RequestLine & { headers?: unknown };
  /** When all of it was on its way; until then 0. */
  readonly sentAt: number;
  /** It has waited for its first byte for too long, and that has been told. */
  isLate: boolean;
};

/** Notes what requests show of an upstream. */
export type UpstreamHealth = {
  /** A request is on its way, without a body or with all of it. */
  sent?(): void;
  /** The answer to one that was sent has begun, or none will come. */
  begun?(sent: RequestUnderWay): void;
  /** A whole answer has come. `judgement`: what it shows, where answers are judged. */
  answered(sent: RequestUnderWay, judgement: Judgement | undefined, status: number): void;
  /** A request got no answer, or not all of it. */
  failed(request: RequestLine, failure: UpstreamFailure): void;
};
