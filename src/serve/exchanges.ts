import type { IncomingMessage, ServerResponse } from "node:http";
import { type HttpExchange, exchangeOf, inContext, type RequestContext } from "../http/exchange.ts";
import type { ExchangeOptions } from "../http/httpServer.ts";
import { traceContextOf } from "../http/traceContext.ts";
import { requestBegins } from "../telemetry/steps.ts";
import type { Core } from "./feature.ts";

/** Follows the exchanges of one listener from their begin to their end. */
type Exchanges = Required<ExchangeOptions> & {
  /** Answers a request that the hit path left; `isOurs`: its path is one of the new interface. */
  answer: (request: IncomingMessage, response: ServerResponse, isOurs: boolean, answer: () => void) => void;
  /** Requests that are being answered; one that the hit path answers is answered at once. */
  inFlight: () => number;
  /** Logs what is still to be said of refused requests. */
  close: () => void;
};

/** Milliseconds between two lines about refused requests. */
const SUMMARY = 60_000;

/** Tells the features of each exchange, and counts the requests that are refused. */
export const openExchanges = ({ trusted, services, features }: Core): Exchanges => {
  const { meter, observer } = services;
  const ends = features.flatMap(({ onExchange }) => onExchange ?? []);
  /** Refused requests by status, since the last line. */
  let refused: Record<number, number> = {};
  const total: Record<number, number> = {};
  let inFlight = 0;
  let summary: NodeJS.Timeout | undefined;
  meter.total("refused_requests_total", "Requests refused before anything was looked up for them, by status.", () =>
    Object.entries(total).map(([status, value]) => ({ labels: { status }, value })),
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
    for (const onExchange of ends) onExchange(exchange, response);
    // A hit leaves nothing that runs on.
    if (exchange.isDeferred) exchange.forget();
  };
  return {
    trusted,
    onOver: over,
    answer(request, response, isOurs, answer) {
      const exchange = exchangeOf(response);
      exchange.isDeferred = true;
      inFlight++;
      response.once("close", () => {
        inFlight--;
        over(exchange, response);
      });
      // What is passed through has these headers anyway, valid or not.
      const context: RequestContext = { exchange, ...(isOurs ? traceContextOf(request.headers) : {}) };
      if (requestBegins.hasSubscribers) requestBegins.publish({ context, request });
      inContext(context, answer);
    },
    inFlight: () => inFlight,
    close: report,
  };
};
