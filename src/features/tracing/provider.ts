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
import type { TracingSettings } from "./settings.ts";

/** Spans that wait for the collector at most; more are dropped. */
const MAX_QUEUE = 2048;
/** Milliseconds that one export may take. */
const EXPORT_TIMEOUT = 10_000;

const samplerOf = ({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share }: TracingSettings): Sampler => {
  const root = name.endsWith("traceidratio")
    ? new TraceIdRatioBasedSampler(share)
    : name.endsWith("always_off")
      ? new AlwaysOffSampler()
      : new AlwaysOnSampler();
  return name.startsWith("parentbased") ? new ParentBasedSampler({ root }) : root;
};

/** `a=1,b=2` -> `{a: "1", b: "2"}`; values may be percent-encoded. */
const headersOf = (text = ""): Record<string, string> =>
  Object.fromEntries(
    text.split(",").flatMap((one) => {
      const at = one.indexOf("=");
      return at === -1 ? [] : [[one.slice(0, at), unescaped(one.slice(at + 1))]];
    }),
  );

const unescaped = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
};

/** Opens the SDK: what it records is exported in batches, in the background. `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_BSP_…` it reads itself. */
export const openTracerProvider = (settings: TracingSettings): TracerProvider => {
  const exporter = new OTLPTraceExporter({
    url: `${settings.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`,
    headers: headersOf(settings.OTEL_EXPORTER_OTLP_HEADERS),
    timeoutMillis: EXPORT_TIMEOUT,
  });
  const named = resourceFromAttributes({ "service.name": settings.OTEL_SERVICE_NAME });
  return new TracerProvider({
    resource: detectResources({ detectors: [envDetector] }).merge(named),
    sampler: samplerOf(settings),
    spanProcessors: [
      new BatchSpanProcessor({ exporter, maxQueueSize: MAX_QUEUE, exportTimeoutMillis: EXPORT_TIMEOUT }),
    ],
    spanLimits: { attributeValueLengthLimit: 500 },
  });
};
