import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { IncomingHttpHeaders } from "node:http";
import { withTimeout } from "../../concurrency/withTimeout.ts";
import { currentContext, type HttpExchange, inContext } from "../../http/exchange.ts";
import { pathOf } from "../../http/requestTarget.ts";
import { traceContextOf } from "../../http/traceContext.ts";
import type { Core, Feature, ObserveStep } from "../../serve/feature.ts";
import { openTracerProvider } from "./provider.ts";
import type { TracingSettings } from "./settings.ts";

/** Milliseconds that a stop waits for the last spans to be exported. */
const LAST_EXPORT = 2_000;

/** Records each request and its steps as spans, and exports them. `lastExport`: milliseconds that a stop waits for the last ones. */
const open = (_: Core, settings: TracingSettings, lastExport = LAST_EXPORT): Feature => {
  const provider = openTracerProvider(settings);
  const tracer = provider.getTracer("catalog-gateway");
  const spans = new WeakMap<HttpExchange, Span>();

  const begin = ({ started }: HttpExchange, method: string | undefined, parent: Context): Span =>
    tracer.startSpan(
      method ?? "request",
      { kind: SpanKind.SERVER, startTime: performance.timeOrigin + started },
      parent,
    );

  const step: ObserveStep = (name, about, run) => {
    const context = currentContext();
    if (context?.step === undefined) return run();
    const parent = context.step as Context;
    const kind = name === "legacy" || name === "modern" ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const span = tracer.startSpan(name, { kind, attributes: about }, parent);
    const inner = { ...context, step: trace.setSpan(parent, span), traceparent: traceparentOf(span) };
    try {
      const result = inContext(inner, run);
      if (!(result instanceof Promise)) endStep(span, result);
      else
        result.then(
          (value) => endStep(span, value),
          () => endStep(span, { failed: true }),
        );
      return result;
    } catch (error) {
      endStep(span, { failed: true });
      throw error;
    }
  };

  return {
    step,
    onRequest(context, { method, headers }) {
      const parent = parentOf(headers);
      const span = begin(context.exchange, method, parent);
      spans.set(context.exchange, span);
      context.step = trace.setSpan(parent, span);
      context.traceparent = traceparentOf(span);
    },
    onExchange(exchange, response) {
      const request = response?.req;
      const span = spans.get(exchange) ?? begin(exchange, request?.method, parentOf(request?.headers ?? {}));
      const { status, endpoint } = exchange;
      if (endpoint !== undefined) span.updateName(`${request?.method} ${endpoint}`);
      span.setAttributes(attributesOf(exchange, request?.method));
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
    async close() {
      await withTimeout(
        provider.shutdown().catch(() => undefined),
        lastExport,
      );
    },
  };
};

/** The span of the client that its headers name, if they are valid. */
const parentOf = (headers: IncomingHttpHeaders): Context => {
  const read = traceContextOf(headers);
  if (read === undefined) return ROOT_CONTEXT;
  const [, traceId = "", spanId = "", flags = ""] = read.traceparent.split("-");
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(read.tracestate === undefined ? {} : { traceState: createTraceState(read.tracestate) }),
  });
};

const traceparentOf = (span: Span): string => {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
};

/** A step that tells of a failure (`failed`) was one. */
const endStep = (span: Span, result: unknown): void => {
  if (typeof result === "object" && result !== null && "failed" in result)
    span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
};

const attributesOf = (
  { id, path, status, bytes, endpoint, cache, stage, backend }: HttpExchange,
  method: string | undefined,
): Attributes => ({
  "http.request.method": method,
  "url.path": path && pathOf(path),
  "http.response.status_code": status,
  "http.response.body.size": bytes,
  "catalog_gateway.request_id": id,
  "catalog_gateway.endpoint": endpoint,
  "catalog_gateway.cache": cache,
  "catalog_gateway.stage": stage,
  "catalog_gateway.backend": backend,
});

/** The feature, as the gateway opens it. */
export const tracingFeature = { open };
