import { z } from "zod";
import { millisecondsField } from "../../settings/fields.ts";
import type { Settings } from "../../settings/settings.ts";

const shape = {
  ACCESS_LOG: z
    .enum(["off", "errors", "all"])
    .default("errors")
    .describe("which requests get a line on the standard output; errors include slow ones"),
  SLOW_REQUEST_MS: millisecondsField(1_000).describe("until an answer begins, from which on its request is slow"),
};

/** What the feature adds to the settings. */
export const accessLogSettings = {
  shape,
  isOn: ({ ACCESS_LOG }: AccessLogSettings) => ACCESS_LOG !== "off",
};

/** All settings with those of the feature. */
export type AccessLogSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
