import type { DataSettings } from "../../libraries/stores/settings.ts";

const isOn = ({ REDIS_URL }: DataSettings): boolean => REDIS_URL !== undefined;

/** What the feature adds to the settings: nothing, `REDIS_URL` is the stores'. */
export const settings = { shape: {}, isOn };
