import { tagsInUse } from "./tagsInUse.ts";

export const listSetupTags = tagsInUse("GET /setup/tag/list", "setup", ["GET /setups/tag/list"]);
