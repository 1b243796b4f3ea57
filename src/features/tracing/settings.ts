import { z } from "zod";
import { baseUrlField } from "../../settings/fields.ts";
import type { Settings } from "../../settings/settings.ts";

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

const shape = {
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrlField
    .optional()
    .describe("the OpenTelemetry collector that gets traces, by OTLP over HTTP (default: no traces)"),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .regex(/^[\w-]+=[^,\s]*(,[\w-]+=[^,\s]*)*$/, "names and values such as api-key=abc,tenant=a")
    .optional()
    .describe("headers that the collector asks for"),
  OTEL_SERVICE_NAME: z.string().min(1).max(255).default("catalog-gateway").describe("the service's name in traces"),
  OTEL_TRACES_SAMPLER: z
    .enum(samplers)
    .default("parentbased_always_on")
    .describe("which traces are recorded, as OpenTelemetry names it"),
  OTEL_TRACES_SAMPLER_ARG: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe("the share of traces that is recorded where OTEL_TRACES_SAMPLER is one of traceidratio"),
};

/** What the feature adds to the settings. */
export const tracingSettings = {
  shape,
  secrets: ["OTEL_EXPORTER_OTLP_HEADERS"],
  isOn: (settings: TracingSettings) => settings.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
};

/** All settings with those of the feature. */
export type TracingSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
