import { brownouts, deprecations } from "./schemas.ts";

export const shape = {
  DEPRECATED: deprecations.describe(
    'legacy paths on their way out: [{"path": "/api/v1/json/data", "since": "2026-01-01"}] (also sunset, link, successor)',
  ),
  BROWNOUTS: brownouts.describe(
    'when paths answer nothing: [{"path": "/api/v1", "from": "2026-12-01T09:00:00Z", "until": "2026-12-01T10:00:00Z", "status": 503}] (also link)',
  ),
};

export const reloadable = ["DEPRECATED", "BROWNOUTS"];
