import type { Settings } from "../../src/operation/index.ts";

const isOn = ({ REDIS_URL }: Settings): boolean => REDIS_URL !== undefined;

/** What the feature adds to the settings: nothing, `REDIS_URL` is the core's. */
export const settings = { shape: {}, isOn };
