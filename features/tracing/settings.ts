import type { z } from "zod";
import { fields, type Settings, type SettingsFragment } from "../../src/operation/index.ts";

const shape = {
  OTEL_EXPORTER_OTLP_ENDPOINT: fields.baseUrl
    .optional()
    .describe(
      "URL of the OpenTelemetry collector, below which it takes `/v1/traces` by OTLP over HTTP. Without it nothing is recorded, and the SDK is not loaded",
    ),
};

export const settings = {
  shape,
  group: "Traces",
  isOn: ({ OTEL_EXPORTER_OTLP_ENDPOINT }: TracingSettings) => OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
} satisfies SettingsFragment;

export type TracingSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
