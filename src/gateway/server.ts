import { legacyKindOf, pathOf } from "../catalogue/index.ts";
import { Server as NetServer } from "node:net";
import type { RequestListener, Server, ServerResponse } from "node:http";
import { type ExchangeOptions, openHttpServer } from "./http/httpServer.ts";
import {
  contexts,
  exchangeOf,
  type HttpExchange,
  listen,
  requestBegins,
  type RequestContext,
  requestKinds,
  temporary,
  traceContextOf,
} from "../operation/index.ts";
import type { Gateway } from "./openGateway.ts";
import { isBelowAny } from "./http/requestTarget.ts";
import type { Step } from "./http/step.ts";

/** A listening server that can be stopped without cutting a request. */
export type RunningServer = Awaited<ReturnType<typeof startServer>>;

/** The error of a start whose address is taken or does not exist. `settings`: names the settings of the address. */
export const cannotListen = (settings: string, host: string, port: number, cause: NodeJS.ErrnoException): Error => {
  const reason = cause.code ?? cause.message;
  const error = new Error(
    `${settings}: ${host}:${port} cannot be listened on (${reason}); allowed is a free port of this machine`,
    { cause },
  );
  return reason === "EADDRINUSE" ? temporary(error) : error;
};

/** Long enough for a request that is on its way to an idle connection. */
const GRACE_MS = 250;
/**
 * Milliseconds of a turn of the event loop in which hardly a connection can have come unseen, and
 * to wait for such a turn.
 */
const SHORT_TURN_MS = 0.02;
const MAX_TURNS_MS = 500;

/**
 * Listens for clients.
 *
 * @throws The system's error where the address is taken or does not exist.
 */
export const startServer = async (
  gateway: Gateway,
  { host, port, prefixes }: { host: string; port: number; prefixes: readonly string[] },
) => {
  let stopping = false;
  const exchanges = openExchanges(gateway, prefixes);
  const { untrustedProxies, guard, events } = gateway.core;
  const join = () => inOrder(requestSteps(gateway, prefixes, exchanges.begin));
  let answer = join();
  events.on("reloaded", () => (answer = join()));
  const { server, watched, connections, hasWaiting } = openHttpServer(
    {
      // An upload may take longer than any fixed time; silence within one is bounded by the pass-through.
      requestTimeout: 0,
      headersTimeout: 60_000,
      optimizeEmptyRequests: true,
    },
    gateway.core.clientLimits,
    (request, response) => {
      // Requests that wait behind it on the connection are answered as well.
      if (stopping && !hasWaiting(request.socket)) response.shouldKeepAlive = false;
      const { forwarded, "x-forwarded-for": forwardedFor } = request.headers;
      if (forwarded !== undefined || forwardedFor !== undefined) untrustedProxies.note(request);
      answer(request, response);
    },
    { ...exchanges, ownErrors: gateway.core.ownErrors, guard },
  );
  const { meter } = gateway.core;
  meter.gauge("client_connections", "Connections of clients.", () => connections().open);
  meter.total(
    "refused_connections_total",
    "Connections refused because of MAX_CLIENT_CONNECTIONS.",
    () => connections().refused,
  );
  meter.total("slow_clients_total", "Connections reset because their clients took nothing.", () => watched.resets);
  const listening = await listen(server, { host, port });
  return {
    port: listening.port,
    /**
     * Keeps serving until `delay` resolves, and closes connections after their next answer. Then closes the port and
     * answers the requests in flight. True if all were answered within `timeout` ms of that.
     */
    async stop(timeout: number, delay?: Promise<unknown>): Promise<boolean> {
      stopping = true;
      gateway.beginStop();
      await delay;
      const isWhole = await drain(server, timeout);
      exchanges.close();
      return isWhole;
    },
  };
};

/**
 * The steps that may answer a request, in order. The steps after `begin` answer later, within the request's context.
 * Below a prefix of "/" the router hands on the paths of legacy.
 */
const requestSteps = (
  { core, features, hitPath, app, proxy, oldReads }: Gateway,
  prefixes: readonly string[],
  begin: Step,
): Step[] => {
  const { guard } = core;
  const before = features.steps();
  return [
    // Rate limits.
    ...before.hitPath,
    hitPath.answer,
    begin,
    // Documents.
    ...before.router,
    (request, response, next) => {
      if (!isBelowAny(pathOf(request.url ?? "/"), prefixes)) return next();
      app.handle(request, response, next).catch((error: unknown) => guard.fail(response, error));
    },
    // From here on it is legacy's.
    proxy.begin,
    // Brown-outs.
    ...before.passThrough,
    (request, response, next) => {
      if (!oldReads?.answer(request, response, (substitute) => proxy.pass(request, response, next, substitute))) next();
    },
    proxy.pass,
  ];
};

/** Asks the steps in their order; the last step answers. */
const inOrder = (steps: readonly Step[]): RequestListener =>
  steps.reduceRight<RequestListener>(
    (next, step) => (request, response) => step(request, response, () => next(request, response)),
    () => undefined,
  );

/** True if an answer with a 5xx is a failure: a malformed request gets 501 or 505, and its client may have left. */
const isFailed = ({ status, isRefused, isDeferred }: HttpExchange, response?: ServerResponse): boolean =>
  (!isRefused || status === 503) && (!isDeferred || response?.writableFinished === true);

/** Milliseconds between two lines about refused requests. */
const SUMMARY = 60_000;

/** Calls the features with each exchange that is over, and counts the requests that are refused. */
const openExchanges = (
  { core, features }: Gateway,
  prefixes: readonly string[],
): ExchangeOptions & { begin: Step; close: () => void } => {
  const { trusted, readTarget, meter, observer, catalogue } = core;
  /** Refused requests by status, since the last line. */
  let refused: Record<number, number> = {};
  const total: Record<number, number> = {};
  let inFlight = 0;
  let summary: NodeJS.Timeout | undefined;
  meter.total("refused_requests_total", "Requests refused before anything was looked up for them, by status.", () =>
    Object.entries(total).map(([status, value]) => ({ labels: { status }, value })),
  );
  meter.gauge(
    "requests_in_flight",
    "Requests of clients that are being answered; a hit is answered at once.",
    () => inFlight,
  );

  const report = (): void => {
    clearTimeout(summary);
    summary = undefined;
    if (Object.keys(refused).length > 0) observer.event("requests_refused", { statuses: refused });
    refused = {};
  };
  const over = (exchange: HttpExchange, response?: ServerResponse): void => {
    if (exchange.isRefused) {
      total[exchange.status] = (total[exchange.status] ?? 0) + 1;
      refused[exchange.status] = (refused[exchange.status] ?? 0) + 1;
      summary ??= setTimeout(report, SUMMARY).unref();
    }
    const isPlanned = exchange.status >= 500 && features.isPlanned.some((isSo) => isSo(exchange));
    const hasFailed = exchange.hasFailed || (exchange.status >= 500 && !isPlanned && isFailed(exchange, response));
    let name = exchange.endpoint ?? exchange.oldRead;
    if (name === undefined && (hasFailed || (exchange.isProxied && response?.headersSent === true))) {
      name = requestKinds[(exchange.isProxied ? exchange.kind : undefined) ?? "other"];
      meter.countsOf(name).requests++;
    }
    if (hasFailed && name !== undefined) meter.countFailed(name);
    for (const onExchange of features.onExchange) {
      try {
        onExchange(exchange, response);
      } catch (error) {
        // The other listeners, and whatever else waits for the end of the answer, are called anyway.
        observer.fault(error);
      }
    }
    // A hit leaves nothing that runs on.
    if (exchange.isDeferred) exchange.forget();
  };
  /** A step after which the request is answered later, and all work for it finds its context. */
  const begin: Step = (request, response, next) => {
    const exchange = exchangeOf(response);
    exchange.isDeferred = true;
    inFlight++;
    response.once("close", () => {
      inFlight--;
      over(exchange, response);
    });
    // Proxied requests have these headers anyway, valid or not.
    const isOurs = isBelowAny(pathOf(request.url ?? "/"), prefixes);
    const context: RequestContext = { exchange, ...(isOurs ? traceContextOf(request.headers) : {}) };
    if (requestBegins.hasSubscribers) requestBegins.publish({ context, request });
    contexts.run(context, next);
  };
  return {
    trusted,
    readTarget,
    kindOf: (request, target) => legacyKindOf(catalogue, request, target),
    onOver: over,
    begin,
    /** Logs the last summary of refused requests. */
    close: report,
  };
};

/**
 * Closes the port, behind a turn of the event loop that brought no connection and was short; after `MAX_TURNS_MS` it
 * may be long. The kernel resets connections that wait to be accepted when the port closes, and the event loop accepts
 * one a turn. `onClosed` is called when no connection is left.
 */
const closePort = (server: Server, onClosed: () => void): void => {
  const end = performance.now() + MAX_TURNS_MS;
  let isQuiet = false;
  server.on("connection", () => void (isQuiet = false));
  // http.Server's own close() cuts idle connections at once, and with them a request that is just arriving. At
  // the end it stops its timer.
  const close = () =>
    NetServer.prototype.close.call(server, () => {
      server.close();
      onClosed();
    });
  const turn = (began: number): void => {
    const now = performance.now();
    if (isQuiet && (now - began < SHORT_TURN_MS || now > end)) close();
    else {
      isQuiet = true;
      setImmediate(turn, performance.now());
    }
  };
  turn(0);
};

/** Closes the port and the connections when they are idle; true where that was all within `timeout` ms. */
const drain = (server: Server, timeout: number): Promise<boolean> =>
  new Promise((resolve) => {
    closePort(server, () => finish(true));
    // Immediates run behind the reads: a connection whose request has arrived is not idle any more. While the port is
    // open, it may have been accepted in the same turn, and be unread.
    const idle = setInterval(() => {
      if (!server.listening) setImmediate(() => server.closeIdleConnections());
    }, GRACE_MS);
    const late = setTimeout(() => {
      finish(false);
      server.closeAllConnections();
    }, timeout);
    const finish = (whole: boolean) => {
      clearInterval(idle);
      clearTimeout(late);
      resolve(whole);
    };
  });
