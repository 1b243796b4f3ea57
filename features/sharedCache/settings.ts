import type { DataSettings } from "../../libraries/stores/settings.ts";

const isOn = ({ REDIS_URL }: DataSettings): boolean => REDIS_URL !== undefined;

/** The feature adds no settings: `REDIS_URL` belongs to the stores. */
export const settings = { shape: {}, isOn };
