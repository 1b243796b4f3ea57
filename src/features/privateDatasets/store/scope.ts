import { hash } from "node:crypto";
import type { Settings } from "../../../settings/settings.ts";

/** The settings that say where legacy is. */
export type LegacySettings = Pick<Settings, "LEGACY_URL" | "LEGACY_PATH" | "LEGACY_HOST">;

/** Which legacy an index belongs to: each catalogue has its own. It is a hash, so that the address is not stored. */
export const scopeOf = ({ LEGACY_URL, LEGACY_PATH, LEGACY_HOST }: LegacySettings): string => {
  // The sample legacy has another port at each start, and is the same one.
  const { origin, host } = LEGACY_URL === undefined ? { origin: "the sample legacy", host: "" } : new URL(LEGACY_URL);
  return hash("sha256", JSON.stringify([origin, LEGACY_PATH, LEGACY_HOST ?? host]), "base64url").slice(0, 16);
};
