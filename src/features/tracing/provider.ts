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

/** Spans that wait for the collector at most; more are dropped. */
const MAX_QUEUE = 2048;

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

/** Opens the SDK: what it records is exported in batches, in the background. It reads the other `OTEL_` variables itself. */
export const openTracerProvider = (endpoint: string): TracerProvider =>
  new TracerProvider({
    resource: resourceFromAttributes({ "service.name": "catalog-gateway" }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    sampler: samplerOf(process.env),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: `${endpoint}/v1/traces` }),
        maxQueueSize: MAX_QUEUE,
      }),
    ],
    spanLimits: { attributeValueLengthLimit: 500 },
  });
