import type { z } from "zod";
import type { Settings } from "../../settings/settings.ts";
import { millisecondsField } from "../../settings/fields.ts";

const shape = {
  REDIS_TIMEOUT_MS: millisecondsField(50).describe("that a request waits for it at most"),
};

/** The feature is on if `REDIS_URL` is set. */
const isOn = (settings: { REDIS_URL?: string | undefined }): boolean => settings.REDIS_URL !== undefined;

/** What the feature adds to the settings. */
export const sharedCacheSettings = { shape, isOn };

/** All settings with those of the feature. */
export type SharedCacheSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
