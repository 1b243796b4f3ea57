import { z } from "zod";
import { burstOf } from "./burst.ts";
import { networksField } from "../../settings/fields.ts";
import { countWorkers } from "../../settings/divide.ts";
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

/** Redis has the buckets of all workers together; without it each worker has its own. */
const isShared = ({ REDIS_URL }: { REDIS_URL?: string | undefined }): boolean => REDIS_URL !== undefined;
const dividedRates = (settings: Settings): string[] => (isShared(settings) ? [] : ["RATE_LIMIT"]);
const divided = (settings: Settings): string[] => (isShared(settings) ? [] : ["RATE_LIMIT_BURST"]);

const errorsOf = (settings: RateLimitSettings): string[] => {
  const { RATE_LIMIT_BURST: given } = settings;
  if (!isOn(settings))
    return given === undefined
      ? []
      : [`RATE_LIMIT_BURST: ${given} given without RATE_LIMIT; allowed is both or RATE_LIMIT alone`];
  const count = countWorkers(settings);
  return isShared(settings) || burstOf(settings) >= count
    ? []
    : [
        `RATE_LIMIT_BURST: ${given ?? `ten seconds' worth, ${burstOf(settings)},`} given; allowed with ${count} WORKERS and without REDIS_URL is at least ${count}, one for each`,
      ];
};

/** What the feature adds to the settings. */
export const rateLimitSettings = { shape, isOn, divided, dividedRates, errorsOf };

/** All settings with those of the feature. */
export type RateLimitSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
