import { tagsInUse } from "./tagsInUse.ts";

export const listDatasetTags = tagsInUse("GET /data/tag/list", "data", ["GET /datasets/tag/list"]);
