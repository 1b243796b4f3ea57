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
    .describe(
      "URL of the OpenTelemetry collector, below which it takes `/v1/traces` by OTLP over HTTP. Without it nothing is recorded, and the SDK is not loaded",
    ),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .regex(/^[\w-]+=[^,\s]*(,[\w-]+=[^,\s]*)*$/, "names and values such as api-key=abc,tenant=a")
    .optional()
    .describe("Headers that the collector asks for: `api-key=abc,tenant=a`"),
  OTEL_SERVICE_NAME: z.string().min(1).max(255).default("catalog-gateway").describe("Name of the service in traces"),
  OTEL_TRACES_SAMPLER: z
    .enum(samplers)
    .default("parentbased_always_on")
    .describe(
      "Traces that are recorded: `always_on`, `always_off`, `traceidratio`, or the same after `parentbased_`. Those follow the client's `traceparent`",
    ),
  OTEL_TRACES_SAMPLER_ARG: z
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe("Share of traces that `traceidratio` records, from 0 to 1"),
};

/** What the feature adds to the settings. */
export const tracingSettings = {
  shape,
  group: "Traces",
  secrets: ["OTEL_EXPORTER_OTLP_HEADERS"],
  isOn: (settings: TracingSettings) => settings.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
};

/** All settings with those of the feature. */
export type TracingSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
