import type { z } from "zod";
import type { Settings } from "../../settings/settings.ts";
import { brownouts, deprecations } from "./schemas.ts";

const shape = {
  DEPRECATED: deprecations.describe(
    'Legacy paths that will go: `[{"path": "/api/v1/json/data", "since": "2026-01-01"}]`. Also `"sunset": "2027-01-01"`, `"link": "https://…"` and `"successor": "/v1/datasets"`',
  ),
  BROWNOUTS: brownouts.describe(
    'Times without legacy paths: `[{"path": "/api/v1", "from": "2026-12-01T09:00:00Z", "until": "2026-12-01T10:00:00Z", "status": 503}]`. 410 or 503, for at most 24 hours; also `"link": "https://…"`',
  ),
};

const reloadable = ["DEPRECATED", "BROWNOUTS"];

/** What the feature adds to the settings. */
export const retirementSettings = { shape, group: "Migration and retirement", reloadable };

/** All settings with those of the feature. */
export type RetirementSettings = Settings & z.infer<z.ZodObject<typeof shape>>;
