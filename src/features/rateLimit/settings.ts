import { z } from "zod";
import { networksField } from "../../settings/fields.ts";
import type { Settings } from "../../settings/settings.ts";

const limit = z.int().min(1).max(100_000);

const shape = {
  RATE_LIMIT: limit
    .optional()
    .describe(
      "requests a second that each caller may send, by key or else by address; more are answered 429 (default: no limit)",
    ),
  RATE_LIMIT_BURST: limit
    .optional()
    .describe("requests that each caller may send at once (default: ten seconds' worth)"),
  RATE_LIMIT_EXEMPT: networksField.describe("the addresses and networks whose requests are not limited"),
};

/** The feature is on if `RATE_LIMIT` is set. */
const isOn = ({ RATE_LIMIT }: { RATE_LIMIT?: number | undefined }): boolean => RATE_LIMIT !== undefined;

const errorsOf = ({ RATE_LIMIT_BURST: given, ...settings }: RateLimitSettings): string[] =>
  given === undefined || isOn(settings)
    ? []
    : [`RATE_LIMIT_BURST: ${given} given without RATE_LIMIT; allowed is both or RATE_LIMIT alone`];

/** What the feature adds to the settings. */
export const rateLimitSettings = { shape, isOn, errorsOf };

/** All settings with those of the feature. */
export type RateLimitSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
