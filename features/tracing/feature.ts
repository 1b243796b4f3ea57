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
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { IncomingHttpHeaders } from "node:http";
import { type HttpExchange, observeSteps, traceContextOf, withTimeout } from "../../src/operation/index.ts";
import { pathOf } from "../../src/catalogue/index.ts";
import type { Additions } from "../../src/gateway/index.ts";
import type { TracingSettings } from "./settings.ts";

/** Milliseconds that a stop waits for the last spans to be exported. */
const LAST_EXPORT = 2_000;

/** Parts that a test replaces. `lastExport`: milliseconds that a stop waits for the last spans. */
export type TracingParts = { lastExport?: number };

/**
 * Records each request and its steps as spans, and exports them. OpenTelemetry's instrumentation of http (0.300) and
 * undici (0.34) writes the query, and with it the key, into `url.query` and `url.full`; that of undici has no option
 * to prevent it.
 */
const open = (
  settings: TracingSettings,
  { lastExport = LAST_EXPORT }: TracingParts = {},
): { onExchange: Additions["onExchange"][number]; close: () => Promise<void> } => {
  const provider = openTracerProvider(settings.OTEL_EXPORTER_OTLP_ENDPOINT ?? "");
  const tracer = provider.getTracer("catalog-gateway");
  const spans = new WeakMap<HttpExchange, Span>();

  const begin = ({ started }: HttpExchange, method: string | undefined, parent: Context): Span =>
    tracer.startSpan(
      method ?? "request",
      { kind: SpanKind.SERVER, startTime: performance.timeOrigin + started },
      parent,
    );

  const running = new WeakMap<object, Span>();
  const endObserving = observeSteps({
    onRequest({ context, request }) {
      const parent = parentOf(request.headers);
      const span = begin(context.exchange, request.method, parent);
      spans.set(context.exchange, span);
      context.step = trace.setSpan(parent, span);
      context.traceparent = traceparentOf(span);
    },
    /** Requests to legacy and modern carry the id of their step's span. */
    onBegin(step, context) {
      // The step belongs to no request, or to a request of another gateway in this process.
      if (context?.step === undefined || !spans.has(context.exchange)) return context;
      const parent = context.step as Context;
      const kind = step.name === "legacy" || step.name === "modern" ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const span = tracer.startSpan(step.name, { kind, attributes: step.attributes }, parent);
      running.set(step, span);
      return { ...context, step: trace.setSpan(parent, span), traceparent: traceparentOf(span) };
    },
    onEnd(step) {
      const span = running.get(step);
      if (span === undefined) return;
      const fail = () => endStep(span, { failed: true });
      if ("error" in step) fail();
      else if (step.result instanceof Promise) step.result.then((result) => endStep(span, result), fail);
      else endStep(span, step.result);
    },
  });

  return {
    onExchange(exchange, response) {
      const request = response?.req;
      const span = spans.get(exchange) ?? begin(exchange, request?.method, parentOf(request?.headers ?? {}));
      const { status, endpoint } = exchange;
      if (endpoint !== undefined) span.updateName(`${request?.method} ${endpoint}`);
      if (span.isRecording()) span.setAttributes(attributesOf(exchange, request?.method));
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
    async close() {
      endObserving();
      const exported = provider.shutdown().catch(() => undefined);
      await withTimeout(exported, lastExport);
    },
  };
};

/** The sampler that `OTEL_TRACES_SAMPLER` names, which the SDK does not read. */
const samplerOf = ({ OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG: share = "1" }: NodeJS.ProcessEnv): Sampler => {
  const name = OTEL_TRACES_SAMPLER ?? "parentbased_always_on";
  const root = name.endsWith("traceidratio")
    ? new TraceIdRatioBasedSampler(Number(share))
    : name.endsWith("always_off")
      ? new AlwaysOffSampler()
      : new AlwaysOnSampler();
  return name.startsWith("parentbased") ? new ParentBasedSampler({ root }) : root;
};

/**
 * Opens the SDK. It exports spans in batches, in the background; at most 2048 spans wait. It reads the other
 * `OTEL_` variables itself.
 */
const openTracerProvider = (endpoint: string): TracerProvider =>
  new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "catalog-gateway" }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    sampler: samplerOf(process.env),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }) })],
    spanLimits: { attributeValueLengthLimit: 500 },
  });

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

/** Ends a step. If its result is a failure (`failed`), it is marked as an error. */
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

export const feature = { open };
