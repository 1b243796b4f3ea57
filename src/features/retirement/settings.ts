import type { z } from "zod";
import type { Settings } from "../../settings/settings.ts";
import { brownouts, deprecations } from "./schemas.ts";

const shape = {
  DEPRECATED: deprecations.describe(
    'legacy paths on their way out: [{"path": "/api/v1/json/data", "since": "2026-01-01"}] (also sunset, link, successor)',
  ),
  BROWNOUTS: brownouts.describe(
    'when paths answer nothing: [{"path": "/api/v1", "from": "2026-12-01T09:00:00Z", "until": "2026-12-01T10:00:00Z", "status": 503}] (also link)',
  ),
};

const reloadable = ["DEPRECATED", "BROWNOUTS"];

/** What the feature adds to the settings. */
export const retirementSettings = { shape, reloadable };

/** All settings with those of the feature. */
export type RetirementSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
