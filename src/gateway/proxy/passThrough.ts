import type { IncomingMessage, ServerResponse } from "node:http";
import {
  currentContext,
  exchangeOf,
  inContext,
  propagatedHeaders,
  type RequestContext,
} from "../../operation/telemetry/exchange.ts";
import type { Observer } from "../../operation/telemetry/observer.ts";
import { runStep, steps } from "../../operation/telemetry/steps.ts";
import { isLoop } from "../upstream/forwarding.ts";
import { type RequestLine, UpstreamFailure, withoutQuery } from "../upstream/failure.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { ResponseObserver } from "./heldAnswer.ts";
import { refuse, type Trouble, troubles } from "./refuse.ts";
import { openCounters, Relay } from "./relay.ts";
import { requestHeaders } from "./headers.ts";
import { Upload } from "./upload.ts";

/** `host` replaces the client's Host. `trusted` says which peers' X-Forwarded-* are believed. `observer` gets each failure once. */
export type PassThroughOptions = {
  host?: string | undefined;
  trusted: (address: string) => boolean;
  observer: Pick<Observer, "event">;
  meter: Parameters<typeof openCounters>[0];
  observe?: (method: string, target: string, req: IncomingMessage) => ResponseObserver | undefined;
  /** Each gives a flat list of headers to add to the answer for this target, whether the upstream's or ours. */
  headers: readonly ((target: string) => readonly string[] | undefined)[];
  /** Each may answer in the upstream's place, at once or later; false: the request goes on. `pass` sends it to the upstream. */
  standIns: readonly ((req: IncomingMessage, res: ServerResponse, target: string, pass: () => void) => boolean)[];
};

/** A listener for requests whose target and host were read (`src/gateway/http`): `url` is in origin form, `headers.host` the host it is for. */
export type PassThrough = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Passes requests to an upstream and its answers back, unchanged and streaming. `uploads`: connections to the same upstream for requests with
 * a body that is not small, whose clients may hold them for long.
 */
export const passThrough = (plain: Upstream, uploads: Upstream, options: PassThroughOptions): PassThrough => {
  const counters = openCounters(options.meter);
  const report = ({ method, path }: RequestLine, context: RequestContext, kind: Trouble, error?: Error): void => {
    counters.over(performance.now() - context.exchange.started, kind);
    const { level } = troubles[kind];
    // What fails may do so on behalf of a connection, which another request may have opened.
    inContext(context, () => {
      const about = { kind, method, path: withoutQuery(path), why: error?.message, level };
      options.observer.event("pass_through_failed", about);
    });
  };
  return function passThroughListener(req, res) {
    const line = { method: req.method ?? "GET", path: req.url ?? "/" };
    const { path } = line;
    const context = currentContext() ?? { exchange: exchangeOf(res) };
    context.exchange.isProxied = true;
    if (res.destroyed || req.socket.destroyed)
      return report(line, context, "aborted", new UpstreamFailure("aborted", line));
    const added = options.headers.flatMap((of) => of(path) ?? []);
    if (isLoop(req.headers.via)) {
      refuse(req, res, "loop", added);
      return report(line, context, "loop");
    }
    const toUpstream = (): void => send(req, res, line, context, added);
    if (!options.standIns.some((standIn) => standIn(req, res, path, toUpstream))) toUpstream();
  };

  function send(
    req: IncomingMessage,
    res: ServerResponse,
    { method, path }: RequestLine,
    context: RequestContext,
    added: readonly string[],
  ): void {
    const observer = options.observe?.(method, path, req);
    const onChunk = (chunk: Buffer): void => {
      counters.received.value += chunk.length;
      observer?.chunk(chunk);
    };
    const upload = hasBody(req) ? new Upload(req, { period: uploads.bodyTimeout, onChunk }) : undefined;
    const upstream = upload?.isSmall === false ? uploads : plain;
    const pass = (): void => {
      const own = propagatedHeaders(currentContext() ?? context);
      const headers = requestHeaders(req, options.host, options.trusted, own);
      const request = { method, path, headers, body: upload ?? null, servername: upstream.servername };
      new Relay(upstream, { req, res, context, request, upload, report, observer, added, counters }).begin();
    };
    if (!steps.hasSubscribers) return pass();
    void runStep("legacy", { "catalog_gateway.proxied": "true" }, () => {
      const over = new Promise<void>((resolve) => void res.once("close", resolve));
      pass();
      return over;
    });
  }
};

/** Whether a request has a body to send on. */
const hasBody = (req: IncomingMessage): boolean => {
  const length = req.headers["content-length"];
  return req.headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
};
