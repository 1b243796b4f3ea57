import type { IncomingMessage, ServerResponse } from "node:http";
import { hasBody } from "../http/body.ts";
import { currentContext, exchangeOf, inContext, propagatedHeaders } from "../http/exchange.ts";
import { runStep, steps } from "../telemetry/steps.ts";
import { isLoop } from "../upstream/forwarding.ts";
import { UpstreamFailure, withoutQuery } from "../upstream/failure.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { ResponseObserver } from "./heldAnswer.ts";
import type { PassThroughMeter } from "./passThroughMeter.ts";
import { type Trouble, refuse } from "./refuse.ts";
import { Relay } from "./relay.ts";
import { requestHeaders } from "./headers.ts";
import { Upload } from "./upload.ts";

/** What may be done with a request besides passing it on. */
type PassThroughHooks = {
  /** A flat list of headers to add to the answer for this target, whether the upstream's or ours. */
  headers: (target: string) => readonly string[] | undefined;
  /** Answers in the upstream's place; false: the request goes on to the upstream. */
  standIn: (req: IncomingMessage, res: ServerResponse, target: string) => boolean;
};

/** One request that the upstream did not answer whole. `path` is without the query. */
export type PassThroughEvent = { kind: Trouble; method: string; path: string; error?: Error };

/** `host` replaces the client's Host. `trusted` says which peers' X-Forwarded-* are believed. `onEvent` gets each failure once. */
export type PassThroughOptions = {
  host?: string | undefined;
  trusted: (address: string) => boolean;
  onEvent: (event: PassThroughEvent) => void;
  meter?: PassThroughMeter;
  observe?: (method: string, target: string, req: IncomingMessage) => ResponseObserver | undefined;
  hooks?: PassThroughHooks;
};

/** A listener for requests whose target and host were read (`src/http`): `url` is in origin form, `headers.host` the host it is for. */
export type PassThrough = (req: IncomingMessage, res: ServerResponse) => void;

/**
 * Passes requests to an upstream and its answers back, unchanged and streaming. `uploads`: connections to the same upstream for requests with
 * a body that is not small, whose clients may hold them for long.
 */
export const passThrough = (plain: Upstream, uploads: Upstream, options: PassThroughOptions): PassThrough => {
  const { meter } = options;
  return function passThroughListener(req, res) {
    const method = req.method ?? "GET";
    const path = req.url ?? "/";
    const context = currentContext() ?? { exchange: exchangeOf(res) };
    const { exchange } = context;
    exchange.isProxied = true;
    const report = (kind: Trouble, error?: Error): void => {
      meter?.over(performance.now() - exchange.started, kind);
      // What fails may do so on behalf of a connection, which another request may have opened.
      inContext(context, () => options.onEvent({ kind, method, path: withoutQuery(path), error }));
    };

    if (res.destroyed || req.socket.destroyed)
      return report("aborted", new UpstreamFailure("aborted", { method, path }));
    const added = options.hooks?.headers(path);
    if (isLoop(req.headers.via)) {
      refuse(req, res, "loop", added);
      return report("loop");
    }
    if (options.hooks?.standIn(req, res, path)) return;
    const observer = options.observe?.(method, path, req);
    const onChunk = (chunk: Buffer): void => {
      if (meter) meter.received.value += chunk.length;
      observer?.chunk(chunk);
    };
    const upload = hasBody(req) ? new Upload(req, { period: uploads.bodyTimeout, onChunk }) : undefined;
    const upstream = upload?.isSmall === false ? uploads : plain;
    const pass = (): void => {
      const own = propagatedHeaders(currentContext() ?? context);
      const headers = requestHeaders(req, options.host, options.trusted, own);
      const request = { method, path, headers, body: upload ?? null, servername: upstream.servername };
      new Relay(upstream, { req, res, context, request, upload, report, observer, added, meter }).begin();
    };
    if (!steps.hasSubscribers) return pass();
    void runStep("legacy", { "catalog_gateway.proxied": "true" }, () => {
      const over = new Promise<void>((resolve) => void res.once("close", resolve));
      pass();
      return over;
    });
  };
};
