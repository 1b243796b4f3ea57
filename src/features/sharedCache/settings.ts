import { milliseconds } from "../../settings/fields.ts";

export const shape = {
  REDIS_TIMEOUT_MS: milliseconds(50).describe("that a request waits for it at most"),
};

/** The cache is shared where there is a Redis to share it by. */
export const isOn = (settings: { REDIS_URL?: string | undefined }): boolean => settings.REDIS_URL !== undefined;
