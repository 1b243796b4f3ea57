import type { Settings } from "../../operation/settings/settings.ts";

/** The feature is on if `REDIS_URL` is set. */
const isOn = ({ REDIS_URL }: Pick<Settings, "REDIS_URL">): boolean => REDIS_URL !== undefined;

/** What the feature adds to the settings: nothing, `REDIS_URL` is the core's. */
export const sharedCacheSettings = { shape: {}, isOn };
