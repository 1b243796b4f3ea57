import { z } from "zod";
import type { Settings, SettingsFragment } from "../../src/operation/index.ts";

const shape = {
  ACCESS_LOG: z
    .enum(["off", "errors", "all"])
    .default("errors")
    .describe(
      "Requests that get a line on the standard output: `off`; `errors`, those answered 5xx and slow ones (a second until the answer begins); `all`",
    ),
};

export const settings = {
  shape,
  group: "The log",
  isOn: ({ ACCESS_LOG }: AccessLogSettings) => ACCESS_LOG !== "off",
} satisfies SettingsFragment;

export type AccessLogSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
