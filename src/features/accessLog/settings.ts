import { z } from "zod";
import { millisecondsField } from "../../operation/settings/fields.ts";
import type { Settings, SettingsFragment } from "../../operation/settings/settings.ts";

const shape = {
  ACCESS_LOG: z
    .enum(["off", "errors", "all"])
    .default("errors")
    .describe(
      "Requests that get a line on the standard output: `off`; `errors`, those answered 5xx and slow ones; `all`",
    ),
  SLOW_REQUEST_MS: millisecondsField(1_000).describe(
    "Longest time until an answer begins, in ms, of a request that is not slow",
  ),
};

export const settings = {
  shape,
  group: "The log",
  isOn: ({ ACCESS_LOG }: AccessLogSettings) => ACCESS_LOG !== "off",
} satisfies SettingsFragment;

export type AccessLogSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
