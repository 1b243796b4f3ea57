import { tagsInUse } from "./tagsInUse.ts";

export const listFlowTags = tagsInUse("GET /flow/tag/list", "flow", ["GET /flows/tag/list"]);
