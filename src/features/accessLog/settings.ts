import { z } from "zod";
import { countField, millisecondsField } from "../../settings/fields.ts";
import type { Settings } from "../../settings/settings.ts";

const shape = {
  ACCESS_LOG: z
    .enum(["off", "errors", "sampled", "all"])
    .default("errors")
    .describe("which requests get a line on the standard output; errors and sampled include slow ones"),
  ACCESS_LOG_FORMAT: z
    .enum(["json", "clf"])
    .default("json")
    .describe("of these lines: JSON, or the Common Log Format that web servers write"),
  ACCESS_LOG_SAMPLE: countField(100).describe("one request in so many gets a line where ACCESS_LOG is sampled"),
  SLOW_REQUEST_MS: millisecondsField(1_000).describe("until an answer begins, from which on its request is slow"),
};

/** What the feature adds to the settings. */
export const accessLogSettings = {
  shape,
  isOn: ({ ACCESS_LOG }: AccessLogSettings) => ACCESS_LOG !== "off",
};

/** All settings with those of the feature. */
export type AccessLogSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
