import { z } from "zod";
import type { DataSettings } from "../../libraries/stores/settings.ts";
import { fields, type SettingsFragment } from "../../src/operation/index.ts";

const shape = {
  RATE_LIMIT: z
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe(
      "Most requests a second of each caller, on both interfaces. Ten seconds' worth may come at once; more are answered 429",
    ),
  RATE_LIMIT_EXEMPT: fields.networks.describe("Addresses and networks whose requests are not limited"),
};

const errorsOf = ({ RATE_LIMIT, RATE_LIMIT_EXEMPT }: RateLimitSettings): string[] =>
  RATE_LIMIT === undefined
    ? []
    : RATE_LIMIT_EXEMPT.filter((network) => network.endsWith("/0")).map(
        (network) =>
          `RATE_LIMIT_EXEMPT: ${network} given, so RATE_LIMIT limits no caller; allowed are smaller networks, or no RATE_LIMIT`,
      );

export const settings = {
  shape,
  group: "Rate limits",
  reloadable: ["RATE_LIMIT", "RATE_LIMIT_EXEMPT"],
  errorsOf,
} satisfies SettingsFragment;

export type RateLimitSettings = DataSettings & z.infer<z.ZodObject<typeof shape>>;
