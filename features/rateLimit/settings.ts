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

const isOn = ({ RATE_LIMIT }: RateLimitSettings): boolean => RATE_LIMIT !== undefined;

export const settings = { shape, group: "Rate limits", isOn } satisfies SettingsFragment;

export type RateLimitSettings = DataSettings & z.infer<z.ZodObject<typeof shape>>;
