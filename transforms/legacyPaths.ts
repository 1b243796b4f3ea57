import type { LegacyPaths } from "../src/endpoint/legacyPaths.ts";

/** Tried on the real server: each of these set a tag, as did `/index.php/api/v1`, `/?/api/v1` and `/index.php?/api/v1`. */
export const legacyPaths: LegacyPaths = { interfaces: ["/api/v1", "/api_new/v1"], frontController: "/index.php" };
