import { tagsInUse } from "./tagsInUse.ts";

export const listRunTags = tagsInUse("GET /run/tag/list", "run", ["GET /runs/tag/list"]);
